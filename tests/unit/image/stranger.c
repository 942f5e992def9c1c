/* An executable that is not linked with the library, such as an interpreter: its globals stay where they are. */
#include "base/image.h"

#include "unit/check.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

int variable = 3;

int main(void)
{
    struct image im;
    CHECK(!image_find(&im, "liblateral.so.1"));
    CHECK(im.why_not && strstr(im.why_not, "not linked"));
    CHECK(!image_contains(&im, &variable) && image_bytes(&im) == 0);
    CHECK(image_move(&im, memfd_create("image test", 0), 0) == EINVAL);
    CHECK(image_find(&im, "libstranger.so.1") && image_contains(&im, &variable));
    return 0;
}
