/* The program around generated calls: included behind them. */
int main(void)
{
    begin();
    return end(call_all());
}
