/* A process that does nothing; floor_spawn starts it. */
int main(void)
{
    return 0;
}
