// Cases of a root that the program itself makes: objects of its class, and calls of it. The class leaves open
// what others hand its constructors, and the function what others hand it; what the program does is a case
// that there is, and what is certain there is certain.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/flow/engine/sightings.h"
#include "analyzer/flow/roots/roots.h"

namespace dtype_guard::flow {

class KnownCases {
 public:
  KnownCases(const Subject& subject, Names& names, Effects& effects, Sightings& sightings, Inputs& inputs,
             Roots& roots)
      : program_(subject.program),
        ids_(names.ids),
        effects_(effects),
        sightings_(sightings),
        inputs_(inputs),
        roots_(roots) {}

  // Evaluates what makes objects of the root's class, or calls the root, and leaves no effects but steps.
  // What is given back stays until the next root is asked for.
  const std::vector<Witness>& witnesses(std::uint32_t root);
  const std::vector<HandedCall>& calls(std::uint32_t root);
  // All objects of the class that the program makes, beside the class or the root. None where one is made
  // elsewhere, as tests and scripts do, which have models of their own, or is not known.
  const std::vector<Witness>& all_objects(const std::string& class_name, std::uint32_t root);

 private:
  void look_at_maker(std::uint32_t maker, const std::string& class_name, std::vector<Witness>& all);
  void note_witnesses(const State& state, const std::string& class_name, std::vector<Witness>& all);

  const Program& program_;
  Identities& ids_;
  Effects& effects_;
  Sightings& sightings_;
  Inputs& inputs_;
  Roots& roots_;
  std::map<std::pair<std::string, std::uint32_t>, std::vector<Witness>> witnesses_;  // by class and file
  std::map<std::pair<std::string, std::uint32_t>, std::vector<Witness>> all_objects_;
  std::vector<HandedCall> calls_;  // of the last root
};

}  // namespace dtype_guard::flow
