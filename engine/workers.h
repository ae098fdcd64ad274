#pragma once
// Workers: a few threads that share loops.  Each index is handled by exactly one of them, so results that depend on
// their index alone are the same for any number of threads.

#include <algorithm>
#include <atomic>
#include <exception>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#pragma GCC visibility push(hidden)
namespace mortise {

class Workers {
 public:
  // Fewer threads where the machine has no more; results are the same.
  explicit Workers(int threads) : errors_(static_cast<std::size_t>(std::max(1, threads))) {
    threads_.reserve(errors_.size());  // nothing but making a thread fails once there are some
    try {
      for (std::size_t i = 1; i < errors_.size(); ++i) threads_.emplace_back([this, i] { work(i); });
    } catch (const std::system_error&) {
      errors_.resize(threads_.size() + 1);
    }
  }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  ~Workers() {
    call_ = nullptr;
    ++round_;
    round_.notify_all();
    for (std::thread& t : threads_) t.join();
  }

  std::size_t count() const { return errors_.size(); }

  // f(part) for part = 0 ... count() - 1, each in its own thread; rethrows what one of them threw.
  template <class F> void run(const F& f) {
    if (threads_.empty()) return f(std::size_t{0});
    what_ = &f;
    call_ = [](const void* what, std::size_t part) { (*static_cast<const F*>(what))(part); };
    left_ = static_cast<int>(threads_.size());
    ++round_;
    round_.notify_all();
    attempt(0);
    for (int left = left_; left > 0; left = left_) left_.wait(left);
    std::exception_ptr first;
    for (std::exception_ptr& e : errors_)
      if (std::exception_ptr one = std::exchange(e, nullptr); one && !first) first = std::move(one);
    if (first) std::rethrow_exception(first);
  }
  // f(i) for i = 0 ... n - 1, in as many pieces as there are threads.  Short loops are not worth it.
  template <class F> void each(std::size_t n, const F& f) {
    constexpr std::size_t short_loop = 512;
    const auto piece = [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) f(i);
    };
    if (threads_.empty() || n < short_loop) return piece(0, n);
    run([&](std::size_t part) { piece(n * part / count(), n * (part + 1) / count()); });
  }

 private:
  void attempt(std::size_t part) {
    try {
      call_(what_, part);
    } catch (...) {
      errors_[part] = std::current_exception();
    }
  }
  void work(std::size_t part) {
    for (unsigned seen = 0;;) {
      round_.wait(seen);
      ++seen;
      if (!call_) return;
      attempt(part);
      if (--left_ == 0) left_.notify_one();
    }
  }

  std::vector<std::exception_ptr> errors_;
  std::vector<std::thread> threads_;
  std::atomic<unsigned> round_{0};
  std::atomic<int> left_{0};
  const void* what_ = nullptr;
  void (*call_)(const void*, std::size_t) = nullptr;
};

}  // namespace mortise
#pragma GCC visibility pop
