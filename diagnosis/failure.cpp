#include <mortise/diagnosis/failure.h>

#include <limits>

namespace mortise {
namespace {

constexpr const char* remedy =
    "look for rows that nearly say the same, and for masses far smaller than those of their neighbours";

std::string scope(const System& system, const System::Selection& parts) {
  if (parts.bodies.size() == system.bodies().size()) return "";
  return fmt::format("{} of {} bodies looked at", parts.bodies.size(), system.bodies().size());
}

Label named(const System& system, Index row) {
  return row < 0 ? Label{"system", system.name()} : Label{"row", system.row(row).name};
}

}  // namespace

void fail(const System& system, const Failure& f) {
  using Kind = Failure::Kind;
  const auto joint = [&] { return Label{"joint", system.constraints()[f.constraint].name}; };
  switch (f.kind) {
    case Kind::none:
    case Kind::free:
    case Kind::conflicting:
      break;  // a report tells these
    case Kind::not_finite:
      Label{"state", system.name()}.fail<NonFinite>(fmt::format("the accelerations at t = {} are not finite", f.t),
                                                    "check the masses and the formulas of the parts");
    case Kind::stalled:
      named(system, f.row)
          .fail<NotConverged>(
              fmt::format(
                  "the accelerations do not converge at t = {}; the largest relative residual left is {:.1e}, here",
                  f.t, f.amount),
              remedy);
    case Kind::contradicting:
      named(system, f.row)
          .fail<NotConverged>(fmt::format("it contradicts other rows by {:.1e} of its terms at t = {}", f.amount, f.t),
                              remedy);
    case Kind::shared_reaction:
      joint().fail<NotDetermined>(
          fmt::format("its friction needs its reaction, which is not unique: row '{}' shares its load",
                      system.row(f.row).name),
          "remove redundant rows, or give it a law that does not need the reaction");
    case Kind::friction:
      joint().fail<NotConverged>(
          fmt::format("friction and reactions do not come to agree at t = {}: {} solves leave {:.1e} of the largest "
                      "multiplier, in this joint or another of the {} with friction",
                      f.t, f.tries, f.amount, f.joints),
          "lower the coefficient of friction: with a large one there may be no motion, or several");
    case Kind::no_response:
      Label{"system", system.name()}.fail<NotConverged>(
          fmt::format("its response to a force was not found; {:.1e} of the motion is not known", f.amount), remedy);
    case Kind::no_step:
      Label{"system", system.name()}.fail<NotConverged>(
          fmt::format("a step towards its constraints was not found at t = {}", f.t), remedy);
    case Kind::no_positions:
    case Kind::no_velocities:
      named(system, f.row)
          .fail<NotConverged>(
              fmt::format(
                  "no {} that meet the constraints were found near those given at t = {}; this one is off by {:.1e} "
                  "of the largest{}",
                  f.kind == Kind::no_positions ? "positions" : "velocities", f.t, f.amount,
                  f.solved ? "" : ", and the equations of the last step were not solved"),
              f.solved ? "start nearer, or check that the constraints can hold together" : remedy);
  }
  Label{"system", system.name()}.fail<NotConverged>(fmt::format("its accelerations were not found at t = {}", f.t),
                                                    remedy);
}

std::string in_words(const System& system, const Failure& failure) {
  try {
    fail(system, failure);
  } catch (const Error& error) {
    return error.what();
  }
}

void require(const System& system, const Failure& f, const Evaluation& e, const RankOptions& options) {
  if (!f) return;
  if (f.kind == Failure::Kind::free) {
    RankReport report = check_rank(system, e, f.parts, options);
    report.scope = scope(system, f.parts);
    if (!report.determined()) throw UnderModelled(std::move(report));
    return;
  }
  if (f.kind == Failure::Kind::conflicting) throw ConflictingRows(check_rank(system, e, options));
  fail(system, f);
}

std::vector<std::string> doubts(const System& system, const std::vector<Engine::Doubt>& bodies) {
  std::vector<std::string> out;
  for (const Engine::Doubt& d : bodies)
    out.push_back(fmt::format(
        "the acceleration of body '{}' is known to {:.1e} of itself only: {}", system.bodies()[d.body].name, d.share,
        d.by_rows ? "the rows that hold it nearly depend on each other and hardly tell it; remove "
                    "those that are not needed, or place joints more exactly"
                  : "it is so light that the round-off of the forces on it moves it; give it its "
                    "true mass, or make it massless"));
  return out;
}

std::vector<std::string> doubts(const System& system, const SparseRank& rank, const RankOptions& options) {
  std::vector<std::string> out;
  if (!rank.nearly.empty()) {
    constexpr double visible = 0.1;
    std::vector<std::string> rows;
    for (const auto& [i, weight] : rank.nearly)
      if (weight > visible) rows.push_back(system.row(i).name);
    out.push_back(
        fmt::format("rows are nearly dependent (scaled singular value {:.1e}, warned below {:.0e}, redundant "
                    "below {:.0e}): {}",
                    *rank.smallest_row, options.doubtful, options.determined, fmt::join(rows, ", ")));
  }
  if (rank.kept && *rank.kept < options.doubtful)
    out.push_back(
        fmt::format("massless parts are nearly free (scaled singular value {:.1e}, warned below {:.0e}, refused below "
                    "{:.0e})",
                    *rank.kept, options.doubtful, options.determined));
  for (const auto& [i, counts, pivot] : rank.doubtful_masses) {
    const std::string known = counts ? fmt::format("so accelerations along it are known to {:.0e}",
                                                   std::numeric_limits<double>::epsilon() / pivot)
                                     : "as much as round-off may leave, so it counts as massless";
    out.push_back(
        fmt::format("the mass matrix hardly tells the mass along {}: beside that of its neighbours {:.1e} of it is "
                    "left, {}; give the "
                    "body coordinates in which its mass is not a difference of large ones, or 0",
                    system.coordinate(i), pivot, known));
  }
  return out;
}

}  // namespace mortise
