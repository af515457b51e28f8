import { toTimestamp } from '../../../schemas/timestamp.ts'
import type { Api } from '../api.ts'
import { exitCode, Failure } from '../failure.ts'

export type SignedIn = { token: string; user: { username: string; role: string } }

/** Times in seconds. */
type Code = {
  device_code: string
  user_code: string
  verification_uri: string
  verification_uri_complete: string
  expires_in: number
  interval: number
}
export type ShownCode = Omit<Code, 'device_code'> & { expires_at: string }

export type DeviceFlow = {
  api: Api
  nowMs: () => number
  pause: (ms: number) => Promise<void>
  /** Told once what a person has to open and compare. */
  onCode: (code: ShownCode) => void
  /** Told every second how long the code still holds. */
  onWaiting: (leftS: number) => void
  /** Told why a poll failed that will be made again. */
  onTrouble: (reason: string) => void
}

/** RFC 8628, 3.5: so much longer is the interval after each `slow_down`. */
const slowerByS = 5

/** Waits until a person has approved this program in a browser; throws when they deny, or let the code expire. */
export async function signInByDevice(flow: DeviceFlow): Promise<SignedIn> {
  const { device_code, ...shown } = await flow.api.post<Code>('/api/cli/device/code', {})
  refuseStrangeAddress(shown)
  const endsMs = flow.nowMs() + shown.expires_in * 1000
  flow.onCode({ ...shown, expires_at: toTimestamp(new Date(endsMs)) })
  let intervalS = shown.interval
  while (flow.nowMs() < endsMs) {
    await countDown(flow, intervalS, endsMs)
    const answer = await poll(flow, device_code)
    if (typeof answer === 'object') return answer
    if (answer === 'slow_down') intervalS += slowerByS
  }
  throw expired()
}

async function countDown(
  { nowMs, pause, onWaiting }: DeviceFlow,
  seconds: number,
  endsMs: number,
): Promise<void> {
  const untilMs = Math.min(nowMs() + seconds * 1000, endsMs)
  while (nowMs() < untilMs) {
    onWaiting(Math.ceil((endsMs - nowMs()) / 1000))
    await pause(Math.min(1000, untilMs - nowMs()))
  }
}

/** A server that is away for a while does not end the sign-in: the code holds as long as it holds. */
async function poll(
  { api, onTrouble }: DeviceFlow,
  device_code: string,
): Promise<SignedIn | 'pending' | 'slow_down'> {
  try {
    return await api.post<SignedIn>('/api/cli/device/token', { device_code })
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    if (error.fields.detail === 'authorization_pending') return 'pending'
    if (error.fields.status === 429) return 'slow_down'
    if (error.exitCode !== exitCode.unavailable) throw inWords(error)
    onTrouble(error.message)
    return 'pending'
  }
}

function inWords(refusal: Failure): Failure {
  const { fields } = refusal
  if (fields.detail === 'expired_token') return expired(fields)
  if (fields.detail !== 'access_denied') return refusal
  return new Failure(exitCode.auth, 'The sign-in was denied', { fields })
}

const expired = (fields: Record<string, unknown> = {}) =>
  new Failure(exitCode.auth, 'The code expired before it was approved', {
    lines: ['hint: forge login asks for a new one'],
    fields,
  })

/** What is handed to the browser, and printed, is an address and a code and nothing else. */
function refuseStrangeAddress({
  user_code,
  verification_uri,
  verification_uri_complete,
}: Omit<Code, 'device_code'>): void {
  const isAddress = [verification_uri, verification_uri_complete].every(uri =>
    /^https?:\/\/[!-~]+$/.test(uri),
  )
  if (!isAddress || !/^[\w-]{1,32}$/.test(user_code))
    throw new Failure(exitCode.refused, 'The server answered no usable code')
}
