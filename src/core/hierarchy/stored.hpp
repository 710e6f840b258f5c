// An array that is owned, or that is owned by something else, such as a mapped file.
#pragma once

#include <cassert>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace rhostar {

template <class T>
class Stored {
 public:
  using value_type = T;

  Stored() = default;
  Stored(std::vector<T>&& made) : made_(std::move(made)), view_(made_) {}
  //! The caller keeps them.
  explicit Stored(std::span<const T> others) : view_(others) {}
  Stored(Stored&&) = default;  // a vector that is moved keeps its memory
  Stored& operator=(Stored&&) = default;

  const T* data() const { return view_.data(); }
  std::size_t size() const { return view_.size(); }
  const T& operator[](std::size_t i) const {
    assert(i < view_.size());
    return view_[i];
  }
  auto begin() const { return view_.begin(); }
  auto end() const { return view_.end(); }

 private:
  std::vector<T> made_;
  std::span<const T> view_;
};

}  // namespace rhostar
