// The statements of generated programs, one member for each kind.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/oracle/constructors.h"
#include "tests/oracle/recipe.h"
#include "tests/oracle/writer.h"

namespace dtype_guard::oracle {

struct Callee {
  std::string key;
  bool is_lambda = false;
  bool by_reference = false;
  bool has_flag = false;
};

// How many things may still be open: of a root and all that it calls.
class OpenAtoms {
 public:
  explicit OpenAtoms(std::size_t most) : left_(most) {}
  bool take() { return left_ > 0 && left_-- > 0; }

 private:
  std::size_t left_;
};

class Program {
 public:
  Program(flow::Module& module, Writer& writer, Recipe recipe, std::vector<Callee> callees, OpenAtoms& atoms)
      : module_(module),
        atoms_(atoms),
        writer_(writer),
        random_(writer.random()),
        recipe_(recipe),
        callees_(std::move(callees)) {}

  void has_members(flow::ValueId self, bool part) { self_ = self, has_part_ = part; }
  void has_members(flow::ValueId self, Members members) { self_ = self, members_ = std::move(members); }
  void begin();  // variables with their first values
  void statements(int count, int depth);
  void sink();
  flow::ValueId tensor();

 private:
  using ValueId = flow::ValueId;
  using Args = Writer::Args;

  void statement(int depth);
  void rare(int depth);
  // values
  ValueId operation();
  ValueId factory();
  ValueId shape();
  ValueId dtype();
  ValueId condition(int depth = 0);
  ValueId atom();
  ValueId converted();
  ValueId list_of_tensors();
  ValueId holder();
  ValueId descriptor();
  ValueId layer();
  ValueId made_layer(const LibraryModule& type);
  ValueId dictionary();
  ValueId receiver();
  ValueId text();
  ValueId number_question();
  flow::Argument key();
  // statements
  void assign();
  void choose(int depth);
  void either(int depth);
  ValueId arm(Type type);
  void through(Type type, ValueId one);
  void loop(int depth);
  void call();
  void call_unknown();
  void list();
  void object();
  void reference();
  void buffer();
  void autocast(int depth);
  void default_dtype();
  void check();
  void in_place();
  void module_object();
  void member();
  void member_of_parts();
  void promotion();
  void guarded();
  // library_statements.cpp
  void library();
  void run_layer(ValueId layer);
  void sequential();
  // keyed_statements.cpp
  void keyed();
  void part();
  // dispatch_statements.cpp
  void dispatched();
  void run_method(ValueId object);
  void gathered();
  void discarded();
  void attempt(int depth);
  void entered_loop(int depth);

  flow::Module& module_;
  OpenAtoms& atoms_;
  Writer& writer_;
  Random& random_;
  Recipe recipe_;
  std::vector<Callee> callees_;
  ValueId self_ = 0;  // 0: of no class
  bool has_part_ = false;
  Members members_;                                 // of a composed model
  std::map<ValueId, const LibraryModule*> layers_;  // those whose type is known
  std::map<ValueId, std::string> receivers_;        // those of which a base is
};

}  // namespace dtype_guard::oracle
