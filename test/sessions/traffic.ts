import { until } from '../servers/until.ts'

type Outcome = { begunMs: number; endedMs: number; status: number; process: number }

export type Traffic = {
  /** Resolves once every process has returned 200 to `perProcess` requests since the start. */
  flows(perProcess: number): Promise<void>
  /** Ends the traffic once a request sent `lastingMs` after `sinceMs` has a response; returns the outcomes. */
  end(sinceMs: number, lastingMs: number): Promise<Outcome[]>
}

export type TrafficOptions = { path: string; token: string; perSecond: number }

/** Sends `perSecond` requests a second with one token, to these servers in turn, whether they respond or not. */
export function startTraffic(
  urls: readonly string[],
  { path, token, perSecond }: TrafficOptions,
): Traffic {
  const outcomes: Outcome[] = []
  const open = new Set<Promise<void>>()
  let sent = 0
  const send = async (process: number) => {
    const begunMs = performance.now()
    const response = await fetch(`${urls[process]}${path}`, {
      headers: { authorization: `Bearer ${token}` },
    })
    await response.arrayBuffer()
    outcomes.push({ begunMs, endedMs: performance.now(), status: response.status, process })
  }
  const startedMs = performance.now()
  // By the clock and not by ticks, because a busy machine skips ticks; this keeps the rate.
  const timer = setInterval(() => {
    const due = ((performance.now() - startedMs) / 1000) * perSecond
    for (; sent < due; sent++) {
      const request = send(sent % urls.length).finally(() => open.delete(request))
      open.add(request)
    }
  }, 5)
  return {
    async flows(perProcess) {
      const succeeded = (process: number) =>
        outcomes.filter(outcome => outcome.process === process && outcome.status === 200).length
      await until('every process answers', 30_000, () =>
        urls.every((_, process) => succeeded(process) >= perProcess),
      )
    },
    async end(sinceMs, lastingMs) {
      const last = () => outcomes.findLast(({ begunMs }) => begunMs > sinceMs + lastingMs)
      await until('the traffic has lasted long enough', 60_000, last)
      clearInterval(timer)
      await Promise.all(open)
      return outcomes
    },
  }
}
