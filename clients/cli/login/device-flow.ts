import { toTimestamp } from '../../../schemas/timestamp.ts'
import type { Api } from '../api/client.ts'
import { exitCode, Failure } from '../program/failure.ts'

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
  /** Called once with the URL and code to show. */
  onCode: (code: ShownCode) => void
  /** Called every second with the remaining validity of the code. */
  onWaiting: (leftS: number) => void
  /** Called with the reason of a failed poll that will be retried. */
  onTrouble: (reason: string) => void
}

/** RFC 8628, 3.5: each `slow_down` adds this to the interval. */
const slowerByS = 5

/** Waits for approval in a browser; throws when it is denied or the code expires. */
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

/** An unreachable server does not end the sign-in: polling continues until the code expires. */
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

/** Refuses anything but a web URL and a plain code, since both are printed and opened. */
function refuseStrangeAddress({
  user_code,
  verification_uri,
  verification_uri_complete,
}: Omit<Code, 'device_code'>): void {
  const isAddress = [verification_uri, verification_uri_complete].every(uri =>
    /^https?:\/\/[!-~]+$/.test(uri),
  )
  if (!isAddress || !/^[\w-]{1,32}$/.test(user_code))
    throw new Failure(exitCode.refused, 'The server returned no usable code')
}
