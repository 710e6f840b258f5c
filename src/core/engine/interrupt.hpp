// The interface by which a caller stops a running kernel.
#pragma once

namespace rhostar {

// Kernels ask from time to time, and end with Status::stopped if the answer is yes.
class Interrupt {
 public:
  virtual bool requested() = 0;

 protected:
  ~Interrupt() = default;
};

}  // namespace rhostar
