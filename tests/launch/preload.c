/* Stands for the checking layer: a library that can be preloaded and does nothing. */
int launch_test_preloaded(void);

int launch_test_preloaded(void)
{
    return 1;
}
