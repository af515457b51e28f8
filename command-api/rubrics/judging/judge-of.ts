import type { Deps } from '../../deps.ts'
import type { Judge } from './ask.ts'
import type { JudgeDeployment } from './port.ts'

/** How long a credential is valid, in milliseconds: longer than any request takes. */
const tokenMs = 300_000

/** How to ask this revision; the requests are recorded under the id. */
export const judgeOf = (
  { judgeTokens, now }: Pick<Deps, 'judgeTokens' | 'now'>,
  { deployment_id, revision_id, model, url }: JudgeDeployment,
  judging_id: string,
): Judge => ({
  ...{ url, model },
  token: () =>
    judgeTokens.issue(
      { deployment_id, revision_id, judging_id },
      new Date(now().getTime() + tokenMs),
    ),
})

/** The judge in the cache of scores: the promoted revision may change, and each one judges in its own way. */
export const judgeName = ({
  deployment_id,
  revision_id,
}: {
  deployment_id: string
  revision_id: string
}) => `${deployment_id}@${revision_id}`
