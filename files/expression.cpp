#include <mortise/files/expression.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <numbers>

#include <fmt/format.h>

#include <mortise/core/state.h>
#include <mortise/files/value.h>

namespace mortise::files {

// Recursive descent over the text; writes postfix code.
class Parser {
  using Code = Expression::Code;
  struct Function {
    std::string_view name;
    Code code;
    int arguments;
  };
  static constexpr std::array functions{
      Function{"sin", Code::sin, 1},     Function{"cos", Code::cos, 1},   Function{"tan", Code::tan, 1},
      Function{"asin", Code::asin, 1},   Function{"acos", Code::acos, 1}, Function{"atan", Code::atan, 1},
      Function{"atan2", Code::atan2, 2}, Function{"sqrt", Code::sqrt, 1}, Function{"exp", Code::exp, 1},
      Function{"log", Code::log, 1},     Function{"sinh", Code::sinh, 1}, Function{"cosh", Code::cosh, 1},
      Function{"tanh", Code::tanh, 1},   Function{"abs", Code::abs, 1},   Function{"min", Code::min, 2},
      Function{"max", Code::max, 2}};
  static constexpr std::size_t most_characters = 10'000, deepest = 64;

 public:
  Parser(std::string_view text, const Names& names) : text_(text), names_(names) {
    if (text.size() > most_characters)
      throw ExpressionError(0, fmt::format("the expression has {} characters", text.size()),
                            fmt::format("write at most {}", most_characters));
  }
  static std::vector<std::string> known_functions() {
    std::vector<std::string> names;
    for (const Function& f : functions) names.emplace_back(f.name);
    return names;
  }
  static std::string_view name_of(Code code) {
    for (const Function& f : functions)
      if (f.code == code) return f.name;
    return "";
  }

  Expression parse(std::string_view* unit) {
    sum();
    skip();
    if (at_ < text_.size()) {
      const char c = text_[at_];
      if (!unit || !(std::isalpha(static_cast<unsigned char>(c)) || c == '/'))
        error(at_, fmt::format("'{}' is not expected", c), "an operator or the end must follow");
      *unit = text_.substr(at_);
      while (unit->ends_with(' ')) unit->remove_suffix(1);
    } else if (unit) {
      *unit = {};
    }
    return std::move(out_);
  }

 private:
  [[noreturn]] void error(std::size_t at, const std::string& fact, const std::string& remedy) const {
    throw ExpressionError(at, fact, remedy);
  }
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n')) ++at_;
  }
  bool take(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  struct Level {
    explicit Level(Parser& p) : parser(p) {
      if (++parser.level_ > deepest)
        parser.error(parser.at_, fmt::format("brackets, signs or powers are nested more than {} deep", deepest),
                     "write it flatter");
    }
    ~Level() { --parser.level_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    Parser& parser;
  };

  void sum() {
    const Level level(*this);
    product();
    for (;;) {
      const std::size_t at = at_;
      if (take('+')) {
        product();
        emit(Code::add, 2, at);
      } else if (take('-')) {
        product();
        emit(Code::subtract, 2, at);
      } else {
        return;
      }
    }
  }
  void product() {
    factor();
    for (;;) {
      const std::size_t at = at_;
      if (take('*')) {
        factor();
        emit(Code::multiply, 2, at);
      } else if (take('/')) {
        factor();
        emit(Code::divide, 2, at);
      } else {
        return;
      }
    }
  }
  void factor() {  // a sign, then a power
    const Level level(*this);
    const std::size_t at = at_;
    if (take('-')) {
      factor();
      emit(Code::negate, 1, at);
    } else if (take('+')) {
      factor();
    } else {
      atom();
      const std::size_t sign = at_;
      if (take('^')) {
        factor();
        if (out_.ops_.back().code == Code::number) {
          const double exponent = out_.ops_.back().number;
          out_.ops_.pop_back();
          --stack_;
          emit(Code::power_by, 1, sign, exponent);
        } else {
          emit(Code::power, 2, sign);
        }
      }
    }
  }
  void atom() {
    skip();
    const std::size_t at = at_;
    if (at >= text_.size()) error(at, "the expression ends too early", "a number, a name or '(' must follow");
    const char c = text_[at];
    if (take('(')) {
      sum();
      if (!take(')')) error(at_, "a ')' is missing", fmt::format("the '(' stands at character {}", at + 1));
    } else if (std::isdigit(static_cast<unsigned char>(c)) || c == '.') {
      double number = 0;
      const auto [end, status] = std::from_chars(text_.data() + at, text_.data() + text_.size(), number);
      if (status == std::errc::result_out_of_range)
        error(at, "the number does not fit into a double", "give one between 1e-300 and 1e300");
      if (status != std::errc()) error(at, fmt::format("'{}' begins no number", c), "write numbers as 1.5 or 2e-3");
      at_ = static_cast<std::size_t>(end - text_.data());
      push(Code::number, number, 0);
    } else if (std::isalpha(static_cast<unsigned char>(c)) || c == '_') {
      name();
    } else {
      error(at, fmt::format("'{}' is not expected", c), "a number, a name or '(' must stand here");
    }
  }
  // body.coordinate' and the like are one name.
  void name() {
    const std::size_t at = at_;
    const auto inside = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; };
    while (at_ < text_.size() && inside(text_[at_])) ++at_;
    if (at_ < text_.size() && text_[at_] == '\'') ++at_;
    const std::string_view word = text_.substr(at, at_ - at);
    if (take('(')) {
      const auto f =
          std::find_if(functions.begin(), functions.end(), [&](const Function& x) { return x.name == word; });
      if (f == functions.end())
        error(at, fmt::format("there is no function '{}'", word), suggestion(word, known_functions()));
      for (int i = 0; i < f->arguments; ++i) {
        if (i > 0 && !take(','))
          error(at_, fmt::format("'{}' takes {} arguments", word, f->arguments), "a ',' must follow");
        sum();
      }
      if (!take(')'))
        error(at_, fmt::format("'{}' takes {} argument{}", word, f->arguments, f->arguments == 1 ? "" : "s"),
              "a ')' must follow");
      emit(f->code, f->arguments, at);
    } else if (word == "pi") {
      push(Code::number, std::numbers::pi, 0);
    } else if (const auto meaning = names_.find ? names_.find(word) : std::nullopt) {
      if (meaning->number)
        push(Code::number, *meaning->number, 0);
      else
        push(Code::variable, 0, meaning->variable);
    } else {
      const std::vector<std::string> known = names_.all ? names_.all() : std::vector<std::string>();
      error(at, fmt::format("'{}' is not known here", word),
            known.empty() ? "give a number, or name a parameter under [parameters]" : suggestion(word, known));
    }
  }

  void push(Code code, double number, int variable) {
    out_.ops_.push_back({code, number, variable});
    out_.depth_ = std::max(out_.depth_, ++stack_);
  }
  // Takes `arguments` from the stack and puts one on it; of numbers it is computed here.
  void emit(Code code, int arguments, std::size_t at, double number = 0) {
    const auto n = static_cast<std::size_t>(arguments);
    stack_ -= n - 1;
    auto& ops = out_.ops_;
    const bool known = ops.size() >= n && std::all_of(ops.end() - arguments, ops.end(),
                                                      [](const auto& op) { return op.code == Code::number; });
    ops.push_back({code, number, 0});
    if (!known) return;
    Expression small;
    small.ops_.assign(ops.end() - arguments - 1, ops.end());
    small.depth_ = n;
    const double x = small(std::vector<double>());
    if (!std::isfinite(x))
      error(at, fmt::format("this gives {}", x), "check for a division by 0 or a root of a negative number");
    ops.resize(ops.size() - n - 1);
    ops.push_back({Code::number, x, 0});
  }

  std::string_view text_;
  const Names& names_;
  Expression out_;
  std::size_t at_ = 0, level_ = 0, stack_ = 0;
};

std::vector<std::string> function_names() { return Parser::known_functions(); }

Expression Expression::parse(std::string_view text, const Names& names, std::string_view* unit) {
  return Parser(text, names).parse(unit);
}

std::optional<double> Expression::constant() const {
  if (ops_.size() != 1 || ops_[0].code != Code::number) return std::nullopt;
  return ops_[0].number;
}

Expression Expression::times(double factor) const {
  Expression out = *this;
  if (factor == 1) return out;
  if (constant()) return Expression(*constant() * factor);
  out.ops_.push_back({Code::number, factor, 0});
  out.ops_.push_back({Code::multiply, 0, 0});
  ++out.depth_;
  return out;
}

Expression Expression::part(std::size_t first, std::size_t last) const {
  Expression out;
  out.ops_.assign(ops_.begin() + static_cast<std::ptrdiff_t>(first), ops_.begin() + static_cast<std::ptrdiff_t>(last));
  out.depth_ = depth_;
  return out;
}

std::vector<double> Expression::switches(int variable, double from, double to) const {
  constexpr int finest = 4096, coarsest = 16;
  struct Piece {
    std::size_t first, last;    // of the code
    bool alone;                 // of the variable and numbers
    int degree;                 // 0 a number, 1 straight between the knots, 2 other
    std::vector<double> knots;  // where it switches
  };
  std::vector<double> all, at(static_cast<std::size_t>(variable) + 1);
  std::vector<Piece> stack;
  const auto join = [](Piece a, const Piece& b, int degree) {
    a.last = b.last;
    a.alone = a.alone && b.alone;
    a.degree = degree;
    a.knots.insert(a.knots.end(), b.knots.begin(), b.knots.end());
    return a;
  };
  const auto pop = [&] {
    Piece p = std::move(stack.back());
    stack.pop_back();
    return p;
  };
  // Where one less the other changes its sign.
  const auto crossings = [&](const Piece& a, const Piece* b, int degree, std::vector<double> ends) {
    const Expression left = part(a.first, a.last), right = b ? part(b->first, b->last) : Expression(0.0);
    const auto positive = [&](double t) {
      at.back() = t;
      return left(at) > right(at);
    };
    ends.push_back(from), ends.push_back(to);
    std::sort(ends.begin(), ends.end());
    std::vector<double> out;
    for (std::size_t k = 1; k < ends.size(); ++k) {
      const double width = ends[k] - ends[k - 1];
      const int pieces = degree <= 1 ? 1 : std::max(coarsest, static_cast<int>(finest * width / (to - from)));
      bool before = positive(ends[k - 1]);
      if (k == 1 && !before && left(at) == right(at)) before = positive(std::nextafter(from, to));  // it begins at 0
      double t0 = ends[k - 1];
      for (int i = 1; i <= pieces; ++i) {
        const double t1 = i == pieces ? ends[k] : ends[k - 1] + width * i / pieces;
        const bool now = positive(t1);
        double low = t0, high = t1;
        while (now != before) {
          const double middle = 0.5 * (low + high);
          if (!(middle > low && middle < high)) break;
          (positive(middle) == before ? low : high) = middle;
        }
        if (now != before) out.push_back(high);
        before = now;
        t0 = t1;
      }
    }
    return out;
  };
  for (std::size_t i = 0; i < ops_.size(); ++i) {
    const Op& op = ops_[i];
    Piece made;
    switch (op.code) {
      case Code::number:
        made = {i, i, true, 0, {}};
        break;
      case Code::variable:
        made = {i, i, op.variable == variable, 1, {}};
        break;
      case Code::add:
      case Code::subtract:
      case Code::multiply:
      case Code::divide:
      case Code::power:
      case Code::atan2: {
        const Piece b = pop(), a = pop();
        int degree = std::max(a.degree, b.degree);
        if (op.code == Code::multiply) degree = std::min(2, a.degree + b.degree);
        if (op.code == Code::divide && b.degree > 0) degree = 2;
        if ((op.code == Code::power || op.code == Code::atan2) && degree > 0) degree = 2;
        made = join(a, b, degree);
        break;
      }
      case Code::min:
      case Code::max: {
        const Piece b = pop(), a = pop();
        made = join(a, b, std::max(a.degree, b.degree));
        if (made.alone && made.degree > 0) {
          const auto found = crossings(a, &b, made.degree, made.knots);
          made.knots.insert(made.knots.end(), found.begin(), found.end());
          all.insert(all.end(), found.begin(), found.end());
        }
        break;
      }
      case Code::abs: {
        made = pop();
        if (made.alone && made.degree > 0) {
          const auto found = crossings(made, nullptr, made.degree, made.knots);
          made.knots.insert(made.knots.end(), found.begin(), found.end());
          all.insert(all.end(), found.begin(), found.end());
        }
        break;
      }
      case Code::negate:
        made = pop();
        break;
      default:  // of one argument, and not straight
        made = pop();
        if (made.degree > 0) made.degree = 2;
    }
    made.last = i + 1;
    stack.push_back(std::move(made));
  }
  std::sort(all.begin(), all.end());
  return all;
}

std::string Expression::text(const std::function<std::string(int)>& name) const {
  // Brackets only where they are needed, so that long sums do not nest deeper than they may be read.
  enum Binding { sum, product, sign, power, atom };
  struct Piece {
    std::string text;
    Binding binds;
    std::string at_least(Binding b) const { return binds >= b ? text : fmt::format("({})", text); }
  };
  std::vector<Piece> stack;
  const auto pop = [&] {
    Piece p = std::move(stack.back());
    stack.pop_back();
    return p;
  };
  const auto number = [](double x) -> Piece { return {fmt::format("{}", x), std::signbit(x) ? sign : atom}; };
  for (const Op& op : ops_) {
    const auto two = [&](const char* mark, Binding binds) {
      const Piece right = pop(), left = pop();
      stack.push_back(
          {fmt::format("{}{}{}", left.at_least(binds), mark, right.at_least(static_cast<Binding>(binds + 1))), binds});
    };
    if (op.code == Code::number) {
      stack.push_back(number(op.number));
    } else if (op.code == Code::variable) {
      stack.push_back({name(op.variable), atom});
    } else if (op.code == Code::negate) {
      stack.push_back({fmt::format("-{}", pop().at_least(power)), sign});
    } else if (op.code == Code::power_by) {
      stack.push_back({fmt::format("{}^{}", pop().at_least(atom), number(op.number).at_least(atom)), power});
    } else if (op.code == Code::power) {
      const Piece right = pop(), left = pop();
      stack.push_back({fmt::format("{}^{}", left.at_least(atom), right.at_least(atom)), power});
    } else if (op.code == Code::add) {
      two(" + ", sum);
    } else if (op.code == Code::subtract) {
      two(" - ", sum);
    } else if (op.code == Code::multiply) {
      two(" * ", product);
    } else if (op.code == Code::divide) {
      two(" / ", product);
    } else {
      const std::string last = pop().text;
      const bool first = op.code == Code::atan2 || op.code == Code::min || op.code == Code::max;
      stack.push_back({fmt::format("{}({}{})", Parser::name_of(op.code), first ? pop().text + ", " : "", last), atom});
    }
  }
  return stack.empty() ? "0" : stack.back().text;
}

}  // namespace mortise::files
