import { type Spread, spreadOf } from './quantile.ts'

/** Calls sequentially and returns the milliseconds of each call, without the first few. */
export async function timeEach(
  times: number,
  call: (turn: number) => Promise<unknown>,
  warmUp = 5,
): Promise<Spread> {
  const took: number[] = []
  for (let turn = 0; turn < warmUp + times; turn++) {
    const began = performance.now()
    await call(turn)
    if (turn >= warmUp) took.push(performance.now() - began)
  }
  return spreadOf(took)
}
