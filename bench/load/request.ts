/** Builds requests once and then only patches digits, so that the load generator is cheap. */

export const keysPerStep = 16
/** Steps always have seven digits, so that a patched request keeps its length. */
export const firstStep = 1_000_000
const lastStep = 9_999_999

export type Target = { host: string; runId: string; token: string }

export type MetricsRequest = {
  /** The whole HTTP request, including headers. */
  bytes: Buffer
  /** Gives all points new steps, values and the time `now`. Returns the next unused step. */
  renew(step: number, now: Date): number
}

const value = '0.'.length
const randomDigits = 8

/** A request of `points` points over 16 keys, with values of 16 digits. */
export function metricsRequest(target: Target, points: number, seed: number): MetricsRequest {
  let random = seed | 1
  const digit = () => {
    random ^= random << 13
    random ^= random >>> 17
    random ^= random << 5
    return (random >>> 8) % 10
  }
  const body = bodyText(target.runId, points, digit)
  const bytes = Buffer.from(`${headText(target, body.length)}${body}`, 'latin1')
  const places = findPlaces(bytes, bytes.length - body.length)
  let lastSecond = ''

  const renewTimes = (now: Date) => {
    const second = now.toISOString().slice(0, 19)
    if (second === lastSecond) return
    lastSecond = second
    for (const { ts } of places) bytes.write(second, ts, 'latin1')
  }

  return {
    bytes,
    renew(from, now) {
      const steps = Math.ceil(points / keysPerStep)
      const first = from + steps > lastStep ? firstStep : from
      renewTimes(now)
      for (let index = 0; index < places.length; index++) {
        const place = places[index]
        if (!place) continue
        patchNumber(bytes, place.step, first + Math.floor(index / keysPerStep))
        patchDigits(bytes, place.value, digit)
      }
      return first + steps
    },
  }
}

function bodyText(runId: string, points: number, digit: () => number): string {
  const items = Array.from({ length: points }, (_, index) => {
    const key = `train/metric_${String(index % keysPerStep).padStart(2, '0')}`
    const step = firstStep + Math.floor(index / keysPerStep)
    const digits = Array.from({ length: 15 }, digit).join('')
    return `{"key":"${key}","step":${step},"value":0.${digits}1,"ts":"2026-01-01T00:00:00+00:00"}`
  })
  return `{"run_id":"${runId}","points":[${items.join(',')}]}`
}

const headText = ({ host, token }: Target, length: number) =>
  [
    'POST /api/ingest/metrics HTTP/1.1',
    `Host: ${host}`,
    'Content-Type: application/json',
    `X-Service-Token: ${token}`,
    `Content-Length: ${length}`,
    '',
    '',
  ].join('\r\n')

type Places = { step: number; value: number; ts: number }

function findPlaces(bytes: Buffer, bodyStart: number): Places[] {
  const places: Places[] = []
  let at = bytes.indexOf('"step":', bodyStart)
  while (at !== -1) {
    places.push({
      step: at + '"step":'.length,
      value: bytes.indexOf('"value":', at) + '"value":'.length + value,
      ts: bytes.indexOf('"ts":"', at) + '"ts":"'.length,
    })
    at = bytes.indexOf('"step":', at + 1)
  }
  return places
}

function patchNumber(bytes: Buffer, at: number, number: number): void {
  for (let index = at + 6, rest = number; index >= at; index--) {
    bytes[index] = 48 + (rest % 10)
    rest = Math.floor(rest / 10)
  }
}

/** Patches leading digits most, so that values move like a real series and use all mantissa bits. */
function patchDigits(bytes: Buffer, at: number, digit: () => number): void {
  for (let index = 0; index < randomDigits; index++) bytes[at + index] = 48 + digit()
}
