// Makes one call of the system fail: the k-th open, read, write, fsync, rename, mmap or close of a file in one folder,
// or the k-th allocation of one library. tests/faults/inject.py compiles it and preloads it.
//
// An armed fault fires once, or from the k-th call on (a disk that stays full). It also counts the objects that
// operator new has made and nobody has deleted, so that leaks show.
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
}

#define CALLER __builtin_return_address(0)

namespace {

enum Kind { none, in_open, in_read, in_write, in_fsync, in_rename, in_mmap, in_close, in_memory };

std::atomic<int> armed{none};
std::atomic<long> seen{0}, live{0};
long fails_at = 0;
bool stays = false;
char folder[4096];
std::uintptr_t code_begin = 0, code_end = 0;  // of the library whose allocations count
size_t smallest = 0;                          // of those that do

// Counts one call, and returns whether it is to fail.
bool fires() {
  const long now = ++seen;
  return now == fails_at || (stays && now > fails_at);
}

bool is_inside(const char* path) { return std::strncmp(path, folder, std::strlen(folder)) == 0; }

bool is_of_folder(int descriptor) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const ssize_t length = ::readlink(link, path, sizeof path - 1);
  if (length < 0) return false;
  path[length] = 0;
  return is_inside(path);
}

bool fails(Kind kind, int descriptor) { return armed == kind && is_of_folder(descriptor) && fires(); }
bool fails(Kind kind, const char* path) { return armed == kind && is_inside(path) && fires(); }

bool no_memory_for(void* caller, size_t size) {
  if (armed != in_memory || size < smallest) return false;
  const auto at = reinterpret_cast<std::uintptr_t>(caller);
  return code_begin <= at && at < code_end && fires();
}

int refused(int error) {
  errno = error;
  return -1;
}

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

void* made(size_t size, size_t alignment, bool fail) {
  void* memory = fail ? nullptr : alignment ? __libc_memalign(alignment, size) : __libc_malloc(size ? size : 1);
  live += memory != nullptr;
  return memory;
}

void* made_or_thrown(size_t size, size_t alignment, bool fail) {
  void* memory = made(size, alignment, fail);
  if (!memory) throw std::bad_alloc();
  return memory;
}

}  // namespace

extern "C" {

void fault_range(std::uintptr_t begin, std::uintptr_t end, size_t size) {
  code_begin = begin, code_end = end, smallest = size;
}

void fault_arm(int kind, const char* where, long at, int and_after) {
  std::strncpy(folder, where, sizeof folder - 1);
  fails_at = at, stays = and_after != 0, seen = 0, armed = kind;
}

long fault_disarm() {
  armed = none;
  return seen;
}

long fault_live() { return live; }

int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const int mode = va_arg(rest, int);
  va_end(rest);
  static auto real = next<int(const char*, int, ...)>("open64");
  return fails(in_open, path) ? refused(EMFILE) : real(path, flags, mode);
}

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const int mode = va_arg(rest, int);
  va_end(rest);
  static auto real = next<int(const char*, int, ...)>("open");
  return fails(in_open, path) ? refused(EMFILE) : real(path, flags, mode);
}

ssize_t read(int descriptor, void* to, size_t size) {
  static auto real = next<ssize_t(int, void*, size_t)>("read");
  return fails(in_read, descriptor) ? refused(EIO) : real(descriptor, to, size);
}

size_t fread(void* to, size_t size, size_t count, FILE* file) {
  static auto real = next<size_t(void*, size_t, size_t, FILE*)>("fread");
  return fails(in_read, fileno(file)) ? 0 : real(to, size, count, file);
}

// Half of it is written: a disk is full in the middle.
ssize_t write(int descriptor, const void* from, size_t size) {
  static auto real = next<ssize_t(int, const void*, size_t)>("write");
  if (!fails(in_write, descriptor)) return real(descriptor, from, size);
  if (size > 1 && real(descriptor, from, size / 2) < 0) return -1;
  return refused(ENOSPC);
}

int fsync(int descriptor) {
  static auto real = next<int(int)>("fsync");
  return fails(in_fsync, descriptor) ? refused(EIO) : real(descriptor);
}

int rename(const char* from, const char* to) {
  static auto real = next<int(const char*, const char*)>("rename");
  return fails(in_rename, to) ? refused(EIO) : real(from, to);
}

void* mmap64(void* at, size_t size, int protection, int flags, int descriptor, off64_t offset) {
  static auto real = next<void*(void*, size_t, int, int, int, off64_t)>("mmap64");
  if (descriptor < 0 || !fails(in_mmap, descriptor)) return real(at, size, protection, flags, descriptor, offset);
  errno = ENOMEM;
  return MAP_FAILED;
}

void* mmap(void* at, size_t size, int protection, int flags, int descriptor, off_t offset) {
  static auto real = next<void*(void*, size_t, int, int, int, off_t)>("mmap");
  if (descriptor < 0 || !fails(in_mmap, descriptor)) return real(at, size, protection, flags, descriptor, offset);
  errno = ENOMEM;
  return MAP_FAILED;
}

int close(int descriptor) {
  static auto real = next<int(int)>("close");
  const bool fail = fails(in_close, descriptor);
  const int status = real(descriptor);
  return fail ? refused(EIO) : status;
}

void* malloc(size_t size) { return no_memory_for(CALLER, size) ? nullptr : __libc_malloc(size); }

void* calloc(size_t count, size_t size) { return no_memory_for(CALLER, size) ? nullptr : __libc_calloc(count, size); }

void* realloc(void* old, size_t size) { return no_memory_for(CALLER, size) ? nullptr : __libc_realloc(old, size); }

void* aligned_alloc(size_t alignment, size_t size) {
  return no_memory_for(CALLER, size) ? nullptr : __libc_memalign(alignment, size);
}

int posix_memalign(void** to, size_t alignment, size_t size) {
  if (no_memory_for(CALLER, size)) return ENOMEM;
  return (*to = __libc_memalign(alignment, size)) ? 0 : ENOMEM;
}

}  // extern "C"

void* operator new(size_t size) { return made_or_thrown(size, 0, no_memory_for(CALLER, size)); }
void* operator new[](size_t size) { return made_or_thrown(size, 0, no_memory_for(CALLER, size)); }
void* operator new(size_t size, std::align_val_t by) {
  return made_or_thrown(size, size_t(by), no_memory_for(CALLER, size));
}
void* operator new[](size_t size, std::align_val_t by) {
  return made_or_thrown(size, size_t(by), no_memory_for(CALLER, size));
}
void* operator new(size_t size, const std::nothrow_t&) noexcept { return made(size, 0, no_memory_for(CALLER, size)); }
void* operator new[](size_t size, const std::nothrow_t&) noexcept { return made(size, 0, no_memory_for(CALLER, size)); }

namespace {
void dropped(void* memory) {
  live -= memory != nullptr;
  std::free(memory);
}
}  // namespace

void operator delete(void* memory) noexcept { dropped(memory); }
void operator delete[](void* memory) noexcept { dropped(memory); }
void operator delete(void* memory, size_t) noexcept { dropped(memory); }
void operator delete[](void* memory, size_t) noexcept { dropped(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { dropped(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { dropped(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { dropped(memory); }
void operator delete[](void* memory, size_t, std::align_val_t) noexcept { dropped(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { dropped(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { dropped(memory); }
