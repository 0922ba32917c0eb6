// The statements of generated programs, one member for each kind.
#pragma once

#include <string>
#include <vector>

#include "tests/oracle/generate.h"
#include "tests/oracle/writer.h"

namespace dtype_guard::oracle {

struct Callee {
  std::string key;
  bool is_lambda = false;
  bool by_reference = false;
  bool has_flag = false;
};

class Program {
 public:
  Program(flow::Module& module, Writer& writer, Recipe recipe, std::vector<Callee> callees)
      : module_(module),
        writer_(writer),
        random_(writer.random()),
        recipe_(recipe),
        callees_(std::move(callees)) {}

  void begin();  // variables with their first values
  void statements(int count, int depth);
  void sink();
  flow::ValueId tensor();

 private:
  using ValueId = flow::ValueId;
  using Args = Writer::Args;

  void statement(int depth);
  // values
  ValueId operation();
  ValueId factory();
  ValueId shape();
  ValueId dtype();
  ValueId condition(int depth = 0);
  ValueId atom();
  ValueId converted();
  // statements
  void assign();
  void choose(int depth);
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

  flow::Module& module_;
  Writer& writer_;
  Random& random_;
  Recipe recipe_;
  std::vector<Callee> callees_;
};

}  // namespace dtype_guard::oracle
