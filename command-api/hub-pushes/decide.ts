import type { HubPush, HubPushEvent } from '../../events/hub-pushes.ts'
import { Refusal } from '../../platform/refusal.ts'
import { isPushUnderWay } from '../../schemas/hub-pushes.ts'

type Data<T extends HubPushEvent['type']> = Extract<HubPushEvent, { type: T }>['data']

/** Once: the end of a job may be reported again. */
export const requestPush = (before: HubPush, data: Data<'hub.push_requested'>): HubPushEvent[] =>
  before === null ? [{ type: 'hub.push_requested', data }] : []

export const listPush = (before: HubPush, data: Data<'hub.push_listed'>): HubPushEvent[] =>
  before?.state === 'requested' ? [{ type: 'hub.push_listed', data }] : []

export const progressPush = (before: HubPush, data: Data<'hub.push_progressed'>): HubPushEvent[] =>
  before?.state === 'sending' ? [{ type: 'hub.push_progressed', data }] : []

export const finishPush = (before: HubPush, data: Data<'hub.push_sent'>): HubPushEvent[] =>
  before?.state === 'sending' ? [{ type: 'hub.push_sent', data }] : []

export const failPush = (before: HubPush, data: Data<'hub.push_failed'>): HubPushEvent[] =>
  before && isPushUnderWay(before.state) ? [{ type: 'hub.push_failed', data }] : []

/** Completed pushes stay. */
export function cancelPush(before: HubPush, data: Data<'hub.push_cancelled'>): HubPushEvent[] {
  if (!before) throw new Refusal('not_found', `Nothing is sent to the hub under ${data.push_id}`)
  return isPushUnderWay(before.state) ? [{ type: 'hub.push_cancelled', data }] : []
}
