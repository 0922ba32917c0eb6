#include "analyzer/flow/roots/named_device.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "analyzer/flow/ir/module_code.h"
#include "analyzer/flow/program/run_behind.h"
#include "rules/operators/library_names.h"

namespace dtype_guard::flow {

namespace {

std::string in_small_letters(std::string_view text) {
  std::string out(text);
  for (char& each : out) each = static_cast<char>(std::tolower(static_cast<unsigned char>(each)));
  return out;
}

// As a word, or a part of one that begins with a capital: "cuda:0", "torch.cuda.amp", "kCUDA",
// "AutocastCUDA".
bool names_accelerator(std::string_view text) {
  const std::string small = in_small_letters(text);
  const auto is_letter = [&](std::size_t at) {
    return std::isalpha(static_cast<unsigned char>(text[at])) != 0;
  };
  const auto is_capital = [&](std::size_t at) {
    return std::isupper(static_cast<unsigned char>(text[at])) != 0;
  };
  return std::any_of(std::begin(kLibraryNames), std::end(kLibraryNames), [&](const LibraryName& row) {
    if (row.as != Named::kAccelerator) return false;
    for (std::size_t at = small.find(row.name); at != std::string::npos; at = small.find(row.name, at + 1)) {
      const std::size_t end = at + row.name.size();
      const bool begins = at == 0 || !is_letter(at - 1) || is_capital(at);
      const bool ends = end == text.size() || !is_letter(end) || is_capital(end);
      if (begins && ends) return true;
    }
    return false;
  });
}

bool is_off(const Function& function, const Instruction& autocast) {
  for (const Argument& given : autocast.args) {
    if (given.name != "on") continue;
    for (const Block& block : function.blocks) {
      for (const Instruction& each : block.instructions) {
        if (each.result != given.value || each.op != Op::kConst) continue;
        const auto* on = std::get_if<bool>(&each.constant);
        return on && !*on;
      }
    }
  }
  return false;
}

}  // namespace

NamedDevices::Said NamedDevices::said_by(std::uint32_t id) {
  const auto known = said_.find(id);
  if (known != said_.end()) return known->second;
  Said said;
  bool reads_type = false, compares_device = false;
  const Function& function = index_.function(id);
  for (const Block& block : function.blocks) {
    for (const Instruction& each : block.instructions) {
      if (each.op == Op::kSetAutocast && !each.name.empty() && !is_off(function, each)) {
        said.cpu_autocast = said.cpu_autocast || is_named(Named::kHost, each.name);
        said.accelerator = said.accelerator || !is_named(Named::kHost, each.name);
      }
      said.asks = said.asks || (each.op == Op::kOperator && is_named(Named::kAsksForDevice, each.name));
      reads_type = reads_type || each.text.find(name_of(Named::kTypeOfDevice)) != std::string::npos;
      std::string written = each.text;
      if (const auto* word = std::get_if<std::string>(&each.constant)) written += " " + *word;
      const std::string text = in_small_letters(written);
      const bool cpu = text.find(name_of(Named::kHost)) != std::string::npos;
      // What asks whether it is another device than these two goes on alike on both.
      const bool compares = each.op == Op::kOperator && (each.name == "eq" || each.name == "ne");
      compares_device = compares_device ||
                        (compares && (cpu || text.find(name_of(Named::kAccelerator)) != std::string::npos));
      said.cpu = said.cpu || cpu;
      said.accelerator = said.accelerator || names_accelerator(written);
      said.other = said.other || (!cpu && text.find(name_of(Named::kDeviceInText)) != std::string::npos);
    }
  }
  said.asks = said.asks || (reads_type && compares_device);
  return said_[id] = said;
}

bool NamedDevices::any_cpu_autocast() {
  for (std::uint32_t i = 0; !any_cpu_autocast_ && i < index_.module().functions.size(); ++i) {
    for (const Instruction* each : index_.effects(i).autocasts)
      if (is_named(Named::kHost, each->name)) any_cpu_autocast_ = true;
  }
  if (!any_cpu_autocast_) any_cpu_autocast_ = false;
  return *any_cpu_autocast_;
}

std::string NamedDevices::of(std::uint32_t root) {
  if (!index_.function(root).is_main && !any_cpu_autocast()) return "";
  Said all;
  for (const std::uint32_t each : index_.reached_from(root)) {
    const Said said = said_by(each);
    all.cpu_autocast = all.cpu_autocast || said.cpu_autocast;
    all.cpu = all.cpu || said.cpu;
    all.other = all.other || said.other;
    all.accelerator = all.accelerator || said.accelerator;
  }
  if (all.accelerator) return "";
  // One tensor on the CPU is no program on the CPU, unless that is all that a whole program says.
  const bool whole = index_.function(root).is_main && all.cpu && !all.other;
  return all.cpu_autocast || whole ? std::string(name_of(Named::kHost)) : "";
}

namespace {
// A call of the library's by its own name is marked where nothing else is known of it; a file that has one
// outside its functions says so in each.
bool chooses(const Instruction& each) {
  std::string_view name = each.name;
  if (each.op == Op::kOperator) return name == kChosenKernels;
  if (name.starts_with('?')) name.remove_prefix(1);
  return each.op == Op::kCall && is_named(Named::kChoosesKernels, name);
}
}  // namespace

const std::vector<bool>& NamedDevices::may_choose() {
  if (may_choose_) return *may_choose_;
  std::vector<std::uint32_t> choosing;
  for (std::uint32_t i = 0; i < index_.module().functions.size(); ++i) {
    const std::vector<Block>& blocks = index_.function(i).blocks;
    const bool is_one = std::any_of(blocks.begin(), blocks.end(), [](const Block& block) {
      return std::any_of(block.instructions.begin(), block.instructions.end(), chooses);
    });
    if (is_one || (index_.function(i).is_main && name_cpu_alone(index_.reached_from(i))))
      choosing.push_back(i);
  }
  if (choosing.empty()) return may_choose_.emplace();
  std::vector<bool> all = run_behind(index_, callers_, choosing);
  for (const std::uint32_t each : choosing) all[each] = true;
  return may_choose_.emplace(std::move(all));
}

bool NamedDevices::may_have_others(std::uint32_t root) {
  const std::vector<bool>& all = may_choose();
  const std::set<std::uint32_t> reached = index_.reached_from(root);
  return std::any_of(reached.begin(), reached.end(),
                     [&](std::uint32_t each) { return (!all.empty() && all[each]) || said_by(each).asks; }) ||
         name_cpu_alone(reached);
}

bool NamedDevices::name_cpu_alone(const std::set<std::uint32_t>& functions) {
  bool cpu = false, accelerator = false;
  for (const std::uint32_t each : functions) {
    cpu = cpu || said_by(each).cpu;
    accelerator = accelerator || said_by(each).accelerator;
  }
  return cpu && !accelerator;
}

}  // namespace dtype_guard::flow
