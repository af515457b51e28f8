import { exitCode, Failure } from '../program/failure.ts'
import { pause } from '../program/pause.ts'
import type { Session } from '../program/session.ts'
import { pathOfDeployment, type Revision } from './find.ts'

const pollMs = 500

/** Waits until the revision has responded; fails with the reason if it never will. */
export async function untilReady(
  { api, terminal }: Pick<Session, 'api' | 'terminal'>,
  { deployment_id, revision_id }: { deployment_id: string; revision_id: string },
): Promise<{ state: string }> {
  const path = `${pathOfDeployment(deployment_id)}/revisions/${revision_id}`
  let shown = ''
  for (;;) {
    const { state, state_reason } = await api.get<Revision>(path)
    if (state === 'ready') return { state }
    if (state === 'failed' || state === 'retired')
      throw new Failure(
        exitCode.refused,
        `The revision ${state}: ${state_reason ?? 'no reason given'}`,
      )
    const now = state_reason === null ? state : `${state}: ${state_reason}`
    if (now !== shown) terminal.note(now)
    shown = now
    await pause(pollMs)
  }
}
