/* An observer slot like flash_ref's for two functions, whose `names` the program defines before it includes
 * this: what a copy has to carry so that a sanitizer finds it. */
#pragma once

#include <flash_ref/observer.h>

static flash_ref_observer* first;

static int add(flash_ref_observer* observer) {
  observer->next = first;
  first = observer;
  return FLASH_REF_OBSERVER_OK;
}
static int remove_none(flash_ref_observer* observer) {
  (void)observer;
  return FLASH_REF_OBSERVER_ABSENT;
}

__attribute__((visibility("hidden"), used)) const flash_ref_observer_slot own_slot = {
    sizeof(flash_ref_observer_slot), FLASH_REF_OBSERVER_VERSION, 1, 2, names, add, remove_none};
__asm__(
    ".pushsection .note.flash_ref, \"aR\", %note\n"
    ".balign 4\n"
    ".long 10, 8, 1\n"
    ".asciz \"flash_ref\"\n"
    ".balign 4\n"
    "1: .quad own_slot - 1b\n"
    ".popsection\n");
