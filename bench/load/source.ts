import type { Call, Plan } from './plan.ts'
import { firstStep, metricsRequest } from './request.ts'

/** Requests of one kind, sent one after the other from the same bytes. */
export type Source = {
  bytes: Buffer
  /** Makes the bytes the next request. */
  renew(now: Date): void
}

/** The share of one connection. */
export function sourcesOf({ host, port, work, connections }: Plan, connection: number): Source[] {
  const address = `${host}:${port}`
  if ('calls' in work)
    return shareOf(work.calls, connections, connection).map(call => ({
      bytes: bytesOf(address, call),
      renew: () => {},
    }))
  return shareOf(work.runs, connections, connection).map((run, order) => {
    const target = { host: address, runId: run.run_id, token: run.token }
    const seed = connection * 7919 + order * 104_729 + 1
    const request = metricsRequest(target, work.points, seed)
    let step = firstStep
    return {
      bytes: request.bytes,
      renew(now) {
        step = request.renew(step, now)
      },
    }
  })
}

/** With fewer sources than connections, the connections without a share all use the first source. */
function shareOf<T>(all: readonly T[], connections: number, connection: number): T[] {
  const mine = all.filter((_, index) => index % connections === connection)
  return mine.length > 0 ? mine : all.slice(0, 1)
}

function bytesOf(host: string, { method, path, token, body }: Call): Buffer {
  const bytes = Buffer.from(JSON.stringify(body))
  const head = [
    `${method} ${path} HTTP/1.1`,
    `Host: ${host}`,
    'Content-Type: application/json',
    `Authorization: Bearer ${token}`,
    `Content-Length: ${bytes.length}`,
    '',
    '',
  ].join('\r\n')
  return Buffer.concat([Buffer.from(head), bytes])
}
