// Constructs of model code: one that promotes on its way into attention, and its right twin.
#include "tests/catch.h"
#include "tests/unit/python/snippet.h"

namespace dtype_guard::python {
namespace {
using Found = std::vector<std::string>;
const char* const kAutocast = " [autocast-fp16 autocast-bf16]";
std::string at(int line, const std::string& rule, const std::string& roles) {
  return std::to_string(line) + " " + rule + " " + roles + kAutocast;
}

TEST_CASE("an operator of autocast's float32 list widens the query") {
  CHECK(findings(attention("q = F.normalize(q, dim=-1)")) == Found{at(12, "autocast-fp32-operator", "q")});
  CHECK(findings(attention("q = F.normalize(q, dim=-1).to(v.dtype)")).empty());
  CHECK(findings(attention("with torch.autocast('cuda', enabled=False):\n    q = q * q.sigmoid()")).empty());
}

TEST_CASE("a parameter that is registered by assignment widens under autocast") {
  const std::string made = "self.scale = nn.Parameter(torch.ones(4, 1))";
  CHECK(findings(attention("q = q * self.scale", made)) ==
        Found{at(12, "attention-implicit-promotion", "q")});
  CHECK(findings(attention("q = q * self.scale.to(q.dtype)", made)).empty());
  CHECK(findings(attention("q = q * self.scale", "self.scale = 0.125")).empty());
}

TEST_CASE("a parameter or None, asked whether it is there, has the setting's dtype where it is") {
  const std::string made =
      "import os\nself.gain = nn.Parameter(torch.ones(16)) if os.environ.get('GAIN') else None";
  const std::string wide_by_gain =
      "wide = q.float()\n"
      "if self.gain is None:\n"
      "    q = wide.to(v.dtype)\n"
      "elif self.gain.dtype in (torch.float16, torch.bfloat16):\n"
      "    q = wide.to(self.gain.dtype)\n"
      "else:\n"
      "    q = wide";
  // Only under autocast the parameter is float32.
  CHECK(findings(attention(wide_by_gain, made)) == Found{at(13, "attention-mixed-dtypes", "q")});
  CHECK(findings(attention("if self.gain is not None:\n    q = q.float().to(self.gain.dtype)", made)) ==
        Found{at(14, "attention-mixed-dtypes", "q")});
}

TEST_CASE("a registered buffer stays float32 in a half model") {
  const std::string made = "self.register_buffer('gain', torch.ones(16), persistent=False)";
  const Found found = findings(attention("k = k * self.gain", made));
  CHECK(found == Found{"12 attention-implicit-promotion k [autocast-fp16 autocast-bf16 fp16-fp32-buffers "
                       "bf16-fp32-buffers]"});
  CHECK(findings(
            attention("k = k * self.gain", "self.register_buffer('gain', torch.ones(16, dtype=torch.int64))"))
            .empty());
}

TEST_CASE("a project's module is called through its field, and its own forward runs") {
  const std::string norm =
      "class Norm(nn.Module):\n    def forward(self, x):\n        return F.normalize(x, dim=-1)\n";
  const std::string kept =
      "class Norm(nn.Module):\n    def forward(self, x):\n        return F.normalize(x, dim=-1).type_as(x)\n";
  const std::string code = attention("q = self.norm(q)", "self.norm = Norm()");
  CHECK(findings(code + norm) == Found{at(16, "autocast-fp32-operator", "q")});
  CHECK(findings(code + kept).empty());
}

TEST_CASE("arguments are bound by name, and what is left out has its default") {
  const std::string helper =
      "def scaled(x, gain=None, by=1.0):\n    return x * by if gain is None else x * gain\n";
  const std::string made = "self.gain = nn.Parameter(torch.ones(16))";
  CHECK(findings(attention("q = scaled(q, by=2.0)", made) + helper).empty());
  CHECK(findings(attention("q = scaled(gain=self.gain, x=q)", made) + helper) ==
        Found{at(15, "attention-implicit-promotion", "q")});
}

TEST_CASE("a method of the class is found along its bases") {
  const std::string code =
      "import torch\nfrom torch import nn\nimport torch.nn.functional as F\nfrom flash_attn import "
      "flash_attn_func\n"
      "class Base(nn.Module):\n    def norm(self, x):\n        return F.normalize(x, dim=-1)\n"
      "class Attention(Base):\n    def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor):\n"
      "        return flash_attn_func(self.norm(q), k, v)\n";
  CHECK(findings(code) == Found{at(7, "autocast-fp32-operator", "q")});
}

TEST_CASE("a choice of two functions calls each of them: one cause, two calls") {
  const std::string code =
      "import torch\nimport torch.nn.functional as F\nfrom flash_attn import flash_attn_func, "
      "flash_attn_varlen_func\n"
      "def f(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, packed: bool):\n"
      "    attend = flash_attn_varlen_func if packed else flash_attn_func\n"
      "    return attend(q=F.normalize(q, dim=-1), k=k, v=v)\n";
  CHECK(findings(code) == Found{at(6, "autocast-fp32-operator", "q,q")});
}

TEST_CASE("an optional import makes nothing merely possible") {
  const std::string code =
      "import torch\nimport torch.nn.functional as F\nflash_attn_func = None\n"
      "try:\n    from flash_attn import flash_attn_func\nexcept ImportError:\n    pass\n"
      "def f(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor):\n    if flash_attn_func is not None:\n"
      "        return flash_attn_func(F.normalize(q, dim=-1), k, v)\n    return q\n";
  CHECK(findings(code) == Found{at(10, "autocast-fp32-operator", "q")});
}

TEST_CASE("what cannot be seen is silent") {
  CHECK(findings(attention("q = self.mystery(q)")).empty());
  CHECK(findings(attention("q, k = unseen(q, k)")).empty());
  CHECK(findings(attention("q = getattr(q, self.how)()")).empty());
  CHECK(findings(attention("q = q.to(self.config.dtype)")).empty());
  CHECK(findings(attention("for each in self.steps:\n    q = each(q)")).empty());
}

TEST_CASE("an unknown operand beside a float32 tensor with dimensions leaves no half") {
  const std::string made = "self.gain = nn.Parameter(torch.ones(16))";
  CHECK(findings(attention("k = k.addcmul(k * unseen(x), self.gain)", made)) ==
        Found{at(12, "attention-implicit-promotion", "k")});
  CHECK(findings(attention("k = k.addcmul(k * unseen(x), self.gain.to(k.dtype))", made)).empty());
}

}  // namespace
}  // namespace dtype_guard::python
