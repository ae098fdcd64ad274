#include "plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <numeric>

#include "markup.h"
#include "programs.h"

namespace mortise {
namespace {

constexpr std::array<const char*, 8> colours{"#0b6bcb", "#d9480f", "#2b8a3e", "#9c36b5",
                                             "#b08900", "#0c8599", "#c2255c", "#5c6370"};
constexpr std::array<const char*, 8> colours_on_dark{"#5aa9ff", "#ff8a50", "#69db7c", "#d88bea",
                                                     "#ffd43b", "#3bc9db", "#ff7aa8", "#adb5bd"};
constexpr std::array<const char*, 3> dashes{"", "7 3", "2 3"};
constexpr std::size_t most_curves = colours.size() * dashes.size();  // in a panel

// Columns of one unit.
struct Panel {
  std::string unit;
  std::vector<Index> columns;
};

std::vector<Panel> panels_of(const RunTable& run, const std::vector<Index>& columns) {
  std::vector<Panel> panels;
  for (const Index c : columns) {
    const std::string& unit = run.columns[static_cast<std::size_t>(c)].unit;
    auto it = std::find_if(panels.begin(), panels.end(), [&](const Panel& p) { return p.unit == unit; });
    if (it == panels.end()) it = panels.insert(it, {unit, {}});
    it->columns.push_back(c);
  }
  for (const Panel& p : panels)
    if (p.columns.size() > most_curves)
      Label{"plot", run.source}.fail<InvalidModel>(
          fmt::format("{} curves in the unit [{}] are more than the {} that can be told apart", p.columns.size(),
                      p.unit, most_curves),
          "choose fewer columns");
  return panels;
}

// The range of some numbers and where its ticks are: at whole multiples of 1, 2 or 5 times a power of ten.  Ticks are
// told as (tick - offset) / 10^exponent.
struct Scale {
  double low = 0, high = 1, step = 1, offset = 0;
  int exponent = 0;

  Scale(double least, double most, int ticks, bool margins) {
    const double size = std::max(std::abs(least), std::abs(most));
    constexpr double round_off = 1e-13;
    if (most - least <= round_off * size) {  // a constant
      const double half = size > 0 ? 0.5 * size : 0.5;
      least -= half, most += half;
    } else if (margins) {
      const double margin = 0.04 * (most - least);
      least -= margin, most += margin;
    }
    low = least, high = most;
    step = nice((high - low) / ticks);
    constexpr double flat = 1e-4;  // below it, ticks would differ in their fifth digit only
    if (high - low < flat * size) offset = std::round(0.5 * (low + high) / (10 * step)) * 10 * step;
    const double shown = std::max(std::abs(low - offset), std::abs(high - offset));
    const int digits = static_cast<int>(std::floor(std::log10(shown)));
    if (digits < -2 || digits > 4) exponent = 3 * static_cast<int>(std::floor(digits / 3.0));
  }
  std::vector<double> ticks() const {
    std::vector<double> out;
    const double first = std::ceil((low - offset) / step - 1e-9);
    for (double k = first; offset + k * step <= high + 1e-9 * step; ++k) out.push_back(offset + k * step);
    return out;
  }
  std::string text(double tick) const {
    const double unit = std::pow(10, exponent), x = (tick - offset) / unit;
    const int decimals = std::max(0, static_cast<int>(-std::floor(std::log10(step / unit) + 1e-9)));
    return fmt::format("{:.{}f}", std::abs(x) < 1e-9 * step / unit ? 0 : x, decimals);
  }

 private:
  static double nice(double x) {
    const double power = std::pow(10, std::floor(std::log10(x)));
    for (const double f : {1.0, 2.0, 5.0})
      if (x <= f * power) return f * power;
    return 10 * power;
  }
};

// "m", "10^-6 m + 4.9 m": what the numbers at the ticks are in.
std::string unit_markup(const Scale& scale, const std::string& unit) {
  std::string out;
  if (scale.exponent != 0)
    out += fmt::format("10<tspan baseline-shift=\"super\" font-size=\"75%\">{}</tspan> ", scale.exponent);
  out += escaped_markup(unit.empty() ? (scale.exponent != 0 ? "" : "1") : unit);
  if (scale.offset != 0) out += fmt::format("  {} {:.10g}", scale.offset > 0 ? "+" : "&#8722;", std::abs(scale.offset));
  return out;
}

struct Frame {
  double left, top, width, height;
  Scale x, y;
  double px(double v) const { return left + width * (v - x.low) / (x.high - x.low); }
  double py(double v) const { return top + height * (1 - (v - y.low) / (y.high - y.low)); }
};

// At most four points per pixel across, so that a long run makes no large file: first, least, greatest and last.
std::string polyline(const RunTable& run, Index column, const Frame& f) {
  std::string out;
  const auto put = [&](Index k) {
    out += fmt::format("{:.2f},{:.2f} ", f.px(run.value(k, 0)), f.py(run.value(k, column)));
  };
  const Index n = run.samples();
  for (Index k = 0; k < n;) {
    const double pixel = std::floor(f.px(run.value(k, 0)));
    Index end = k, least = k, most = k;
    for (; end < n && std::floor(f.px(run.value(end, 0))) == pixel; ++end) {
      if (run.value(end, column) < run.value(least, column)) least = end;
      if (run.value(end, column) > run.value(most, column)) most = end;
    }
    std::array<Index, 4> keep{k, std::min(least, most), std::max(least, most), end - 1};
    const auto last = std::unique(keep.begin(), keep.end());
    for (auto it = keep.begin(); it != last; ++it) put(*it);
    k = end;
  }
  out.pop_back();
  return out;
}

std::string style() {
  std::string light, dark;
  for (std::size_t i = 0; i < colours.size(); ++i) {
    light += fmt::format(".c{}{{stroke:{}}}", i, colours[i]);
    dark += fmt::format(".c{}{{stroke:{}}}", i, colours_on_dark[i]);
  }
  return "<style>text{font:12px system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;fill:#343a40}"
         ".title{font-size:15px;font-weight:600;fill:#16191d}.quiet{fill:#6c757d}.paper{fill:#fff}"
         ".grid{stroke:#e9ecef}.zero{stroke:#adb5bd}.frame{stroke:#ced4da;fill:none}"
         ".curve{fill:none;stroke-width:1.6;stroke-linejoin:round;stroke-linecap:round}" +
         light +
         "@media(prefers-color-scheme:dark){text{fill:#ced4da}.title{fill:#f1f3f5}.quiet{fill:#868e96}"
         ".paper{fill:#16191d}.grid{stroke:#2b3035}.zero{stroke:#5c636a}.frame{stroke:#495057}" +
         dark + "}</style>\n";
}

std::string line(const char* kind, double x1, double y1, double x2, double y2) {
  return fmt::format("<line class=\"{}\" x1=\"{:.2f}\" y1=\"{:.2f}\" x2=\"{:.2f}\" y2=\"{:.2f}\"/>\n", kind, x1, y1, x2,
                     y2);
}
std::string text(const char* kind, const char* anchor, double x, double y, const std::string& markup) {
  return fmt::format("<text class=\"{}\" text-anchor=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", kind, anchor, x, y,
                     markup);
}

bool matches(std::string_view pattern, std::string_view name) {
  const auto star = pattern.find('*');
  if (star == pattern.npos) return pattern == name;
  if (name.substr(0, star) != pattern.substr(0, star)) return false;
  const std::string_view rest = pattern.substr(star + 1);
  for (std::size_t i = star; i <= name.size(); ++i)
    if (matches(rest, name.substr(i))) return true;
  return false;
}

std::string title_of(const RunTable& run, const PlotOptions& options) {
  return options.title.empty() ? std::filesystem::path(run.source).filename().string() : options.title;
}

}  // namespace

std::vector<Index> chosen_columns(const RunTable& run, const std::vector<std::string>& names) {
  std::vector<Index> out;
  const auto add = [&](Index i) {
    if (std::find(out.begin(), out.end(), i) == out.end()) out.push_back(i);
  };
  const auto width = static_cast<Index>(run.columns.size());
  const auto name = [&](Index i) -> const std::string& { return run.columns[static_cast<std::size_t>(i)].name; };
  if (names.empty())
    for (Index i = 1; i < width; ++i)
      if (!name(i).ends_with('\'')) add(i);
  for (const std::string& pattern : names) {
    if (std::count(pattern.begin(), pattern.end(), '*') > 4)  // matching takes time that grows with their number
      Label{"column", pattern}.fail<InvalidModel>("it has more than four *", "name the columns more closely");
    bool found = false;
    for (Index i = 0; i < width; ++i)
      if (matches(pattern, name(i))) add(i), found = true;
    if (found) continue;
    if (pattern.find('*') == pattern.npos) run.index(pattern);  // which tells the nearest name
    std::vector<std::string> some;
    constexpr std::size_t most = 6;
    for (std::size_t i = 1; i < std::min(run.columns.size(), most + 1); ++i) some.push_back(run.columns[i].name);
    Label{"column", pattern}.fail<InvalidModel>(
        fmt::format("'{}' has none that is like this", run.source),
        fmt::format("there are {}{}", fmt::join(some, ", "), run.columns.size() > most + 1 ? ", ..." : ""));
  }
  return out;
}

std::string plot_svg(const RunTable& run, const std::vector<std::string>& columns, const PlotOptions& options) {
  const std::vector<Panel> panels = panels_of(run, chosen_columns(run, columns));
  if (panels.empty()) Label{"plot", run.source}.fail<InvalidModel>("it has no columns beside the time", "record some");

  constexpr double letter = 6.7, row = 18, gap = 34, top = 54, bottom = 46, left = 74;
  std::size_t longest = 0;
  double height = top + bottom - gap;
  const auto panel_height = [&](const Panel& p) {
    return std::max<double>(options.panel, row * static_cast<double>(p.columns.size()));
  };
  for (const Panel& p : panels) {
    height += panel_height(p) + gap;
    for (const Index c : p.columns) longest = std::max(longest, run.columns[static_cast<std::size_t>(c)].name.size());
  }
  const double legend = 44 + letter * static_cast<double>(longest);
  const double width = std::max<double>(options.width, left + legend + 240);
  const double t0 = run.value(0, 0), t1 = run.value(run.samples() - 1, 0);
  const Scale time(t0, t1, 9, false);

  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "role=\"img\">\n<title>{2}</title>\n",
      width, height, escaped_markup(title_of(run, options)));
  out += style();
  out += fmt::format("<rect class=\"paper\" width=\"{:.0f}\" height=\"{:.0f}\"/>\n", width, height);
  out += text("title", "start", left, 24, escaped_markup(title_of(run, options)));
  double y = top;
  for (std::size_t n = 0; n < panels.size(); ++n) {
    const Panel& p = panels[n];
    double least = run.value(0, p.columns[0]), most = least;
    for (const Index c : p.columns)
      for (Index k = 0; k < run.samples(); ++k) {
        least = std::min(least, run.value(k, c));
        most = std::max(most, run.value(k, c));
      }
    const double tall = panel_height(p);
    const Frame f{left, y,    width - left - legend,
                  tall, time, Scale(least, most, std::max(3, static_cast<int>(tall / 45)), true)};
    for (const double tick : f.x.ticks()) {
      out += line("grid", f.px(tick), f.top, f.px(tick), f.top + f.height);
      if (n + 1 == panels.size()) out += text("", "middle", f.px(tick), f.top + f.height + 18, f.x.text(tick));
    }
    for (const double tick : f.y.ticks()) {
      out += line(tick == 0 ? "zero" : "grid", f.left, f.py(tick), f.left + f.width, f.py(tick));
      out += text("", "end", f.left - 8, f.py(tick) + 4, f.y.text(tick));
    }
    out += fmt::format("<rect class=\"frame\" x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\"/>\n", f.left,
                       f.top, f.width, f.height);
    out += text("quiet", "end", f.left - 8, f.top - 8, unit_markup(f.y, p.unit));
    for (std::size_t i = 0; i < p.columns.size(); ++i) {
      const auto& column = run.columns[static_cast<std::size_t>(p.columns[i])];
      const std::string dash = dashes[i / colours.size()];
      const std::string look = fmt::format("class=\"curve c{}\"{}", i % colours.size(),
                                           dash.empty() ? "" : fmt::format(" stroke-dasharray=\"{}\"", dash));
      out += fmt::format("<polyline {} points=\"{}\"/>\n", look, polyline(run, p.columns[i], f));
      const double at = f.top + 10 + row * static_cast<double>(i), x = f.left + f.width + 12;
      out +=
          fmt::format("<line {} x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n", look, x, at, x + 20, at);
      out += text("", "start", x + 26, at + 4, escaped_markup(column.name));
    }
    y += tall + gap;
  }
  const std::string& t_unit = run.columns[0].unit;
  out += text("quiet", "end", width - legend, height - 10, fmt::format("t [{}]", unit_markup(time, t_unit)));
  return out + "</svg>\n";
}

namespace {

// gnuplot's: 'it''s'
std::string quoted(const std::string& s) {
  std::string out = "'";
  for (const char c : s) out += c == '\'' ? "''" : std::string(1, c == '\n' ? ' ' : c);
  return out + "'";
}

std::string gnuplot_script(const RunTable& run, const std::vector<Panel>& panels, const std::string& path,
                           const PlotOptions& options) {
  std::string s = "$run << END_OF_RUN\n";
  for (Index k = 0; k < run.samples(); ++k) {
    s += fmt::format("{}", run.value(k, 0));
    for (const Panel& p : panels)
      for (const Index c : p.columns) s += fmt::format(" {}", run.value(k, c));
    s += "\n";
  }
  s += "END_OF_RUN\n";
  s += fmt::format("set terminal pngcairo noenhanced size {},{} font 'sans,10'\nset output {}\n", options.width,
                   60 + (options.panel + 30) * static_cast<int>(panels.size()), quoted(path));
  s += "set grid linecolor '#dee2e6'\nset border linecolor '#868e96'\nset key outside right top\n";
  s += fmt::format("set xrange [{}:{}]\n", run.value(0, 0),
                   run.samples() > 1 && run.value(run.samples() - 1, 0) > run.value(0, 0)
                       ? run.value(run.samples() - 1, 0)
                       : run.value(0, 0) + 1);
  s += fmt::format("set multiplot layout {},1 title {}\n", panels.size(), quoted(title_of(run, options)));
  std::size_t at = 2;
  for (const Panel& p : panels) {
    s += fmt::format("set ylabel {}\n", quoted(p.unit.empty() ? "" : fmt::format("[{}]", p.unit)));
    if (&p == &panels.back()) s += fmt::format("set xlabel {}\n", quoted(fmt::format("t [{}]", run.columns[0].unit)));
    for (std::size_t i = 0; i < p.columns.size(); ++i)
      s += fmt::format("{}$run using 1:{} with lines linewidth 1.6 linecolor '{}' dashtype {} title {}",
                       i ? ", " : "plot ", at++, colours[i % colours.size()], i / colours.size() + 1,
                       quoted(run.columns[static_cast<std::size_t>(p.columns[i])].name));
    s += "\n";
  }
  return s + "unset multiplot\nunset output\n";
}

}  // namespace

bool gnuplot_installed() { return !find_program("gnuplot").empty(); }

void write_plot(const RunTable& run, const std::vector<std::string>& columns, const std::string& path,
                const PlotOptions& options) {
  const Label label{"file", path};
  const std::string kind = std::filesystem::path(path).extension();
  if (kind == ".svg") {
    replace_file(path, plot_svg(run, columns, options));
  } else if (kind == ".png") {
    const std::vector<Panel> panels = panels_of(run, chosen_columns(run, columns));
    if (panels.empty()) label.fail<InvalidModel>("the run has no columns beside the time", "record some");
    const std::string gnuplot = find_program("gnuplot");
    if (gnuplot.empty())
      label.fail<FileError>("PNG is drawn by gnuplot, which is not installed",
                            "install gnuplot-nox, or give a name that ends in .svg");
    namespace fs = std::filesystem;
    std::string folder = (fs::temp_directory_path() / "mortise_plot_XXXXXX").string();
    if (!::mkdtemp(folder.data()))
      label.fail<FileError>(fmt::format("no folder can be made as '{}'", folder), "check the folder TMPDIR");
    const std::string script = folder + "/script", picture = folder + "/picture";
    const auto leave = [&] {
      std::error_code none;
      fs::remove_all(folder, none);
    };
    try {
      replace_file(script, gnuplot_script(run, panels, picture, options));
      if (!runs(gnuplot, {script}) || !fs::exists(picture))
        label.fail<FileError>("gnuplot could not draw it", "give a name that ends in .svg");
      replace_file(path, read_file(picture));
    } catch (...) {
      leave();
      throw;
    }
    leave();
  } else {
    label.fail<FileError>(fmt::format("'{}' is no kind of picture it can be", kind),
                          "give a name that ends in .svg or .png");
  }
}

}  // namespace mortise
