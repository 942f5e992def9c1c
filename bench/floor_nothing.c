/* A process that does nothing: what floor_spawn starts. */
int main(void)
{
    return 0;
}
