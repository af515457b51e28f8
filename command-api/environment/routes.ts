import { type Route, route } from '../../auth/route.ts'
import { environmentAt } from '../../events/environment.ts'
import { digestOf } from '../../platform/digest.ts'
import {
  environmentInput,
  environmentReply,
  maxEnvironmentBodyBytes,
  nodesInput,
  nodesReply,
} from '../../schemas/environment.ts'
import { toExactTimestamp } from '../../schemas/timestamp.ts'
import { commit } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import { capture, describeNodes } from './decide.ts'
import { scrub } from './scrub.ts'

const common = {
  method: 'POST',
  credential: 'ingest',
  tag: 'ingest',
  bodyLimitBytes: maxEnvironmentBodyBytes,
} as const

export const environmentRoutes = (deps: Deps): Route[] => [
  route({
    ...common,
    path: '/api/ingest/environment',
    summary: 'Report the hardware and software environment of a run',
    body: environmentInput,
    response: environmentReply,
    refusals: ['forbidden', 'conflict', 'too_large'],
    async handle(request) {
      await deps.reports.admit(request)
      const { run_id, captured_at, ...facts } = request.body
      const picture = scrub(known(facts))
      const digest = digestOf(picture)
      const { before } = await commit(deps, request, environmentAt(run_id), {
        decide: (environment, now) =>
          capture(environment, {
            run_id,
            digest,
            captured_at: captured_at ?? toExactTimestamp(now),
            picture,
          }),
      })
      return { ok: true, digest, changed: before.digest !== null && before.digest !== digest }
    },
  }),
  route({
    ...common,
    path: '/api/ingest/environment/nodes',
    summary: 'Describe the machines of a multi-node run',
    body: nodesInput,
    response: nodesReply,
    refusals: ['forbidden', 'invalid', 'conflict', 'too_large'],
    async handle(request) {
      await deps.reports.admit(request)
      const { run_id, nodes } = request.body
      const described = nodes.map(({ node, ...facts }) => {
        const scrubbed = scrub(known(facts))
        return { node, digest: digestOf(scrubbed), facts: scrubbed }
      })
      const { state } = await commit(deps, request, environmentAt(run_id), {
        decide: environment => describeNodes(environment, run_id, described),
      })
      return { ok: true, nodes: Object.keys(state.nodes).length }
    },
  }),
]

/** Without the fields that the caller does not know. */
const known = (facts: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== null))
