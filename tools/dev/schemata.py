"""All faults of a sample in one build (mutant schemata): a function gets a copy of its body for each of its faults, and a number in a
file decides at the start of each process which copy runs, so that one build serves every fault. 0 means none.

    int f(int a)
    {
    if (__builtin_expect(fault_on == 17, 0)) {
        <the body with fault 17>
    } else {
        <the body>
    }
    }

A fault outside of a function (a static assertion, the size of a table) has no place here.
"""
import re

FUNCTION = re.compile(r"(?<=\n\{\n)(.*?\n)\}", re.S)
LABEL = re.compile(r"^ *(?!default\b)(\w+):$", re.M)
ERROR = re.compile(r"^([^\s:]+):(\d+):\d+: (?:fatal )?error: ", re.M)

HEADER = """#ifndef FAULT_ON
#define FAULT_ON
#include <asm/unistd.h>
extern long fault_syscall(long, ...) __asm__("syscall");
__attribute__((weak, visibility("hidden"))) int fault_on = -1;
/* Reads which fault is on, before any other constructor of the program or library. It makes no call that a test may replace. */
__attribute__((weak, visibility("hidden"), constructor(101))) void fault_read(void)
{
    char text[16] = "";
    if (fault_on >= 0)
        return;
    fault_on = 0;
    const long fd = fault_syscall(__NR_openat, -100, "%s", 0);
    if (fd < 0)
        return;
    fault_syscall(__NR_read, fd, text, 15L);
    fault_syscall(__NR_close, fd);
    for (const char *digit = text; *digit >= '0' && *digit <= '9'; digit++)
        fault_on = 10 * fault_on + *digit - '0';
}
#endif
"""


class Source:
    """A file with faults of it: {number: fault}."""

    def __init__(self, path, text, faults):
        self.path, self.text = path, text
        self.bodies = [match.span(1) for match in FUNCTION.finditer(text)]
        self.faults = {number: fault for number, fault in faults.items() if self.body_of(fault)}

    def body_of(self, fault):
        """The body of the function in which the fault lies, as (begin, end), or None."""
        return next((span for span in self.bodies if span[0] <= fault.start < span[1]), None)

    def written(self, header):
        """The text with every fault, each of them off. To the compiler every line bears its number in the file without faults."""
        return "".join(text for text, _ in self.pieces(header))

    def pieces(self, header):
        """The parts of that text in their order: (text, number of the fault or None)."""
        by_body = {}
        for number, fault in self.faults.items():
            by_body.setdefault(self.body_of(fault), []).append((number, fault))
        yield f'#include "{header}"\n#line 1\n', None
        at = 0
        for start, end in sorted(by_body):
            body, line = self.text[start:end], self.text.count("\n", 0, start) + 1
            labels = ", ".join(LABEL.findall(body))
            head = (f" __label__ {labels};" if labels else "") + f"\n#line {line}\n"
            yield self.text[at:start], None
            for number, fault in by_body[start, end]:
                yield f"if (__builtin_expect(fault_on == {number}, 0)) {{{head}", None
                yield body[:fault.start - start] + fault.new + body[fault.end - start:], number
                yield "} else ", None
            yield f"{{{head}{body}}}\n", None
            at = end
        yield self.text[at:], None

    def checkable(self, header):
        """The text for refused(): its lines have the numbers that they have here."""
        return "".join(re.sub(r"^#line .*$", "", text, flags=re.M) if number is None else text for text, number in self.pieces(header))

    def refused(self, header, name, words):
        """The numbers of the faults of whose lines the compiler complains, which calls the text of checkable() by this name."""
        whose, last = {}, 1
        for text, number in self.pieces(header):
            lines = text.count("\n")
            if number:
                whose.update(dict.fromkeys(range(last, last + lines + 1), number))
            last += lines
        return {whose.get(int(match[2])) for match in ERROR.finditer(words) if match[1] == name} & self.faults.keys()

    def drop(self, numbers):
        self.faults = {number: fault for number, fault in self.faults.items() if number not in numbers}
