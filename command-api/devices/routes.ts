import type { Person } from '../../auth/caller.ts'
import { codeLifeS, findDeviceRequest, pollIntervalS } from '../../auth/device-requests.ts'
import { type Route, route } from '../../auth/route.ts'
import { type Decision, deviceAt } from '../../events/devices.ts'
import { clientAddress, clientNetwork } from '../../platform/http/client-address.ts'
import { refuseForeignOrigin } from '../../platform/http/origin.ts'
import { Refusal } from '../../platform/refusal.ts'
import {
  deviceCodeReply,
  deviceRequest,
  deviceRequestPath,
  deviceTokenInput,
  deviceTokenReply,
  toDeviceRequest,
} from '../../schemas/devices.ts'
import { closed } from '../../schemas/shared.ts'
import { commit } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import { createDeviceCode } from './code.ts'
import { decideDevice } from './decide.ts'
import { fetchToken, type OpenSession } from './token.ts'

/** Specification, "Limits"; `answerPoll` enforces the interval of each code. */
const polls = { name: 'device-poll', points: 20, windowSeconds: 60 }
/** Longer than any real user agent; longer texts would fill the approver's screen. */
const maxUserAgent = 256
const bodyLimitBytes = 4 * 1024

/** Sign-in without a browser: RFC 8628 (specification, "Authentication", rule 6). */
export const deviceRoutes = (deps: Deps, openSession: OpenSession): Route[] => [
  route({
    method: 'POST',
    path: '/api/cli/device/code',
    credential: 'none',
    tag: 'auth',
    summary: 'Ask for a code with which a person lets this program sign in as them',
    body: closed({}),
    bodyMayBeAbsent: true,
    bodyLimitBytes,
    servedOnFullDisk: true,
    response: deviceCodeReply,
    async handle({ ctx }) {
      const address = clientAddress(ctx)
      const { device_code, user_code } = await createDeviceCode(deps.pool, {
        device_id: deps.newId('dev'),
        requested_ip: address,
        network: clientNetwork(address),
        user_agent: ctx.get('user-agent').slice(0, maxUserAgent),
        now: deps.now(),
      })
      const verification_uri = `${deps.baseUrl()}/device`
      return {
        device_code,
        user_code,
        verification_uri,
        verification_uri_complete: `${verification_uri}?user_code=${user_code}`,
        expires_in: codeLifeS,
        interval: pollIntervalS,
      }
    },
  }),
  route({
    method: 'POST',
    path: '/api/cli/device/token',
    credential: 'none',
    tag: 'auth',
    summary: 'Fetch the access token of an approved code; 400 or 429 with `error` until then',
    body: deviceTokenInput,
    bodyLimitBytes,
    rateLimit: polls,
    servedOnFullDisk: true,
    response: deviceTokenReply,
    refusals: ['invalid', 'forbidden', 'rate_limited'],
    async handle({ body: { device_code }, requestId, ctx }) {
      // Otherwise a page could have its own code approved and sign the visitor's browser in as the approver.
      refuseForeignOrigin(ctx, deps.baseUrl())
      const { token, expires_in, user } = await fetchToken(deps, openSession, {
        device_code,
        requestId,
        ctx,
      })
      return { access_token: token, token, token_type: 'Bearer', expires_in, user }
    },
  }),
  decisionRoute(deps, 'approve', 'approved', 'Let the program that shows this code sign in as you'),
  decisionRoute(deps, 'deny', 'denied', 'Refuse the program that shows this code'),
]

function decisionRoute(deps: Deps, verb: string, decision: Decision, summary: string): Route {
  return route({
    method: 'POST',
    path: `/api/cli/device/{user_code}/${verb}`,
    credential: 'person',
    // An approval makes a new sign-in.
    ...(decision === 'approved' && { recentSignIn: true }),
    reach: 'all',
    tag: 'auth',
    summary,
    params: deviceRequestPath,
    response: deviceRequest,
    refusals: ['not_found', 'conflict', 'rate_limited', 'forbidden'],
    async handle(request) {
      const { caller, params } = request
      const { username, sid } = caller
      const now = deps.now()
      if (decision === 'approved') refuseFromDevice(caller)
      const found = await findDeviceRequest(deps.pool, { username, now }, params.user_code)
      const { device_id } = found
      const { events } = await commit(deps, request, deviceAt(device_id), {
        decide: decided =>
          decideDevice(decided, {
            device_id,
            decision,
            username,
            isExpired: found.expires_at <= now,
          }),
        alongside: tx =>
          tx.query('update auth.device_code set state = $2, sid = $3 where device_id = $1', [
            device_id,
            decision,
            sid,
          ]),
      })
      return toDeviceRequest(events.length > 0 ? { ...found, state: decision } : found)
    },
  })
}

/** Otherwise a stolen session could live forever, each one approving the next. */
function refuseFromDevice({ via }: Person): void {
  if (via === 'device')
    throw new Refusal(
      'forbidden',
      'A session that was itself approved with a code cannot approve another; sign in on this page',
      { code: 'device.from_device' },
    )
}
