#pragma once
// What a TOML file holds, as a tree of values that know where they stand.

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <mortise/files/model.h>

namespace mortise::files {

struct Where {
  std::shared_ptr<const std::string> file;
  int line = 0, column = 0;

  Where right(std::size_t by) const { return {file, line, column + static_cast<int>(by)}; }
  std::string text() const;  // "crane.toml:12:7"
};

// Throws ModelError:  crane.toml:12:7: fact; remedy
[[noreturn]] void fail(const Where& where, const std::string& fact, const std::string& remedy);
// "did you mean 'mass'?" or the list of all, where they are few; "" where there are none.
std::string suggestion(std::string_view name, const std::vector<std::string>& known);

struct Value {
  enum class Kind { boolean, integer, number, text, list, table };
  struct Entry;

  Kind kind = Kind::table;
  bool boolean = false;
  long long integer = 0;
  double number = 0;
  std::string text;
  bool plain_text = true;  // written on one line without escapes, so that places within it are known
  std::vector<Value> list;
  std::vector<Entry> table;  // in the order of the file
  Where where;

  bool is(Kind k) const { return kind == k; }
  bool is_number() const { return kind == Kind::integer || kind == Kind::number; }
  const Value* find(std::string_view key) const;  // null if there is none
  std::string described() const;                  // "a list of 3", "the text 'abc'"
};
struct Value::Entry {
  std::string key;
  Where where;  // of the key
  Value value;
};

// Limits that keep the time and memory of reading a hostile file bounded.
struct Limits {
  std::size_t bytes = 16'000'000;  // of one file
  std::size_t values = 2'000'000;  // in one file
  std::size_t depth = 32;          // of values within values, and of files within files
  std::size_t parts = 1'000'000;   // of the whole model
  std::size_t files = 10'000;      // read or read again
};

// Throws ModelError.
Value parse_toml(std::string_view text, const std::string& name, const Limits& limits = {});
// The text of a plain file; `name` stands for it in messages.
std::string read_text(const std::string& path, const std::string& name, const Limits& limits = {});
Value read_toml(const std::string& path, const std::string& name, const Limits& limits = {});

}  // namespace mortise::files
