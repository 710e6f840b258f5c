// How somebody outside stops a kernel.
#pragma once

namespace rhostar {

// Kernels ask now and then, and end with Status::stopped if the answer is yes.
class Interrupt {
 public:
  virtual bool requested() = 0;

 protected:
  ~Interrupt() = default;
};

}  // namespace rhostar
