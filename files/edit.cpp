#include <mortise/files/edit.h>

#include <algorithm>

#include <mortise/files/field_values.h>

namespace mortise::files {

std::string key_text(const std::string& name) {
  const bool bare =
      !name.empty() &&
      name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == std::string::npos;
  return bare ? name : quoted(name);
}

namespace {

bool starts_with(const Edit::Path& path, const Edit::Path& with) {
  return path.size() >= with.size() && std::equal(with.begin(), with.end(), path.begin());
}

// After the text that begins at i with a quotation mark.
std::size_t after_text(std::string_view s, std::size_t i) {
  const char quote = s[i];
  const std::string three(3, quote);
  const bool tripled = s.substr(i, 3) == three;
  for (i += tripled ? 3 : 1; i < s.size(); ++i) {
    if (s[i] == '\\' && quote == '"') {
      ++i;
    } else if (tripled ? s.substr(i, 3) == three : s[i] == quote) {
      i += tripled ? 3 : 1;
      while (tripled && i < s.size() && s[i] == quote) ++i;  // one or two more belong to the text
      return i;
    }
  }
  return s.size();
}

std::size_t end_of_line(std::string_view s, std::size_t i) { return std::min(s.find('\n', i), s.size()); }
std::size_t next_line(std::string_view s, std::size_t i) { return std::min(end_of_line(s, i) + 1, s.size()); }

// a."b c".d from i on; i then stands after it.
Edit::Path keys(std::string_view s, std::size_t& i) {
  Edit::Path out;
  const auto space = [&] {
    while (i < s.size() && (s[i] == ' ' || s[i] == '\t')) ++i;
  };
  for (;; ++i) {
    space();
    const std::size_t begin = i;
    if (i < s.size() && (s[i] == '"' || s[i] == '\'')) {
      i = after_text(s, i);
      std::string key(s.substr(begin, i - begin));
      if (const std::string plain = key.substr(1, key.size() - 2); key[0] == '\'' || quoted(plain) == key) key = plain;
      out.push_back(std::move(key));  // one with escapes stays as it is written, and is never asked for
    } else {
      while (i < s.size() && s[i] != '.' && s[i] != ' ' && s[i] != '\t' && s[i] != '=' && s[i] != ']' && s[i] != '\n')
        ++i;
      out.emplace_back(s.substr(begin, i - begin));
    }
    space();
    if (i >= s.size() || s[i] != '.') return out;
  }
}

// After the value that begins at i: where its line goes on with nothing or a comment.
std::size_t after_value(std::string_view s, std::size_t i) {
  int depth = 0;
  std::size_t end = i;  // of what is no space
  while (i < s.size()) {
    const char c = s[i];
    if (c == '"' || c == '\'') {
      end = i = after_text(s, i);
      continue;
    }
    if (c == '#') {
      if (depth == 0) break;
      i = end_of_line(s, i);
      continue;
    }
    if (c == '\n' && depth == 0) break;
    depth += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
    ++i;
    if (c != ' ' && c != '\t' && c != '\r' && c != '\n') end = i;
  }
  return end;
}

}  // namespace

Edit::Edit(std::string text) : text_(std::move(text)) { scan(); }

void Edit::scan() {
  statements_.clear();
  Path section;
  for (std::size_t i = 0; i < text_.size();) {
    const std::size_t begin = i;
    while (i < text_.size() && (text_[i] == ' ' || text_[i] == '\t' || text_[i] == '\r')) ++i;
    if (text_.compare(i, 3, "\xEF\xBB\xBF") == 0) i += 3;
    if (i >= text_.size() || text_[i] == '\n' || text_[i] == '#') {
      i = next_line(text_, i);
      continue;
    }
    Statement s;
    s.begin = begin;
    if (text_[i] == '[') {
      s.heading = true;
      while (i < text_.size() && text_[i] == '[') ++i;
      section = keys(text_, i);
      s.path = section;
    } else {
      s.path = section;
      for (std::string& key : keys(text_, i)) s.path.push_back(std::move(key));
      i = std::min(text_.find_first_not_of(" \t=", i), text_.size());
      s.value = i;
      i = s.value_end = after_value(text_, i);
    }
    i = s.end = next_line(text_, i);
    statements_.push_back(std::move(s));
  }
}

const Edit::Statement* Edit::find(const Path& path, bool heading) const {
  for (const Statement& s : statements_)
    if (s.heading == heading && s.path == path) return &s;
  return nullptr;
}

void Edit::replace(std::size_t begin, std::size_t end, std::string_view by) {
  text_.replace(begin, end - begin, by);
  scan();
}

bool Edit::remove(const Path& table, const std::string& remark) {
  std::vector<Statement> gone;
  for (const Statement& s : statements_)
    if (starts_with(s.path, table)) gone.push_back(s);
  if (gone.empty()) return false;
  for (auto s = gone.rbegin(); s != gone.rend(); ++s) text_.erase(s->begin, s->end - s->begin);
  if (!remark.empty()) text_.insert(gone.front().begin, "# " + remark + "\n");
  scan();
  return true;
}

std::optional<std::string> Edit::get(const Path& table, const std::string& key) const {
  Path path = table;
  path.push_back(key);
  const Statement* s = find(path, false);
  return s ? std::optional(text_.substr(s->value, s->value_end - s->value)) : std::nullopt;
}

bool Edit::set(const Path& table, const std::string& key, const std::string& value) {
  Path path = table;
  path.push_back(key);
  if (const Statement* s = find(path, false)) {
    replace(s->value, s->value_end, value);
    return true;
  }
  const Statement* heading = find(table, true);
  if (!heading) return false;
  // Written in parts, as key.x = ..., or as a section of its own: these go.
  const bool parts = std::any_of(statements_.begin(), statements_.end(),
                                 [&](const Statement& s) { return starts_with(s.path, path); });
  if (parts) {
    remove(path);
    heading = find(table, true);
  }
  // After the last line of the section, so that comments behind it stay with what follows.
  std::size_t at = heading->end;
  for (const Statement* s = heading + 1; s != statements_.data() + statements_.size() && !s->heading; ++s) at = s->end;
  const bool open = at > 0 && text_[at - 1] != '\n';
  replace(at, at, fmt::format("{}{} = {}\n", open ? "\n" : "", key_text(key), value));
  return true;
}

bool Edit::drop(const Path& table, const std::string& key) {
  Path path = table;
  path.push_back(key);
  return remove(path);
}

void Edit::put(const Path& table, const std::string& key, const std::string& value) {
  if (set(table, key, value)) return;
  std::string heading;
  for (const std::string& k : table) heading += fmt::format("{}{}", heading.empty() ? "" : ".", key_text(k));
  if (!text_.empty() && text_.back() != '\n') text_ += '\n';
  text_ += fmt::format("\n[{}]\n{} = {}\n", heading, key_text(key), value);
  scan();
}

}  // namespace mortise::files
