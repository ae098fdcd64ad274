#pragma once
// Changes of the text of a model file that leave all else of it as it is: order, formulas, comments.
//
//   Edit edit(text);
//   edit.set({"joints", "hinge"}, "kind", "\"cylindrical\"");
//   edit.text();

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mortise::files {

class Edit {
 public:
  using Path = std::vector<std::string>;  // of a table: {"joints", "hinge"}

  explicit Edit(std::string text);  // of TOML that can be read

  // False where the table is not written as sections or lines of its own, as within {...}; nothing is changed then.
  bool remove(const Path& table, const std::string& remark = "");  // a comment stands in its place
  bool set(const Path& table, const std::string& key, const std::string& value);
  // The text of a value; none where it is not written so.
  std::optional<std::string> get(const Path& table, const std::string& key) const;
  bool drop(const Path& table, const std::string& key);
  // The same, and where there is no such section, it is added at the end.
  void put(const Path& table, const std::string& key, const std::string& value);

  const std::string& text() const { return text_; }

 private:
  // A heading [a.b] or a line key = value, which may go over several.
  struct Statement {
    bool heading = false;
    Path path;                             // with that of the section
    std::size_t begin = 0, end = 0;        // of the whole lines
    std::size_t value = 0, value_end = 0;  // of the value
  };
  void scan();
  const Statement* find(const Path& path, bool heading) const;
  void replace(std::size_t begin, std::size_t end, std::string_view by);

  std::string text_;
  std::vector<Statement> statements_;
};

// A key as TOML takes it.
std::string key_text(const std::string& name);

}  // namespace mortise::files
