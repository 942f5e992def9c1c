// Objects with constructors, destructors and copy relocations (std::cout), for the C++ build of program.c.
#include <iostream>
#include <map>
#include <string>
#include <vector>

static std::string text(100, 'x');
static std::vector<int> numbers{1, 2, 3};
static std::map<std::string, int> table{{"one", 1}, {"two", 2}};

extern "C" int cxx_values_hold()
{
    static std::string first_use = text + "!";
    numbers.push_back(4);
    std::cout << "numbers: " << numbers.size() << std::endl;
    try {
        table.at("three");
    } catch (const std::out_of_range &) {
        table["three"] = 3;
    }
    return std::cout.good() && first_use.size() == 101 && numbers.back() == 4 && table.at("three") == 3;
}
