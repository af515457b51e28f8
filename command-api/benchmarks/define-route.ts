import { type Route, route } from '../../auth/route.ts'
import { definedBenchmarkAt } from '../../events/benchmark-definitions.ts'
import { digestOf } from '../../platform/digest.ts'
import {
  type BenchmarkDefinition,
  benchmarkPath,
  type DefinitionInput,
  definedReply,
  definitionInput,
} from '../../schemas/benchmarks/catalogue.ts'
import { commit } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import { defineBenchmark } from './define.ts'

export const defineRoute = (deps: Deps): Route =>
  route({
    method: 'PUT',
    path: '/api/benchmarks/{name}',
    credential: 'person',
    reach: 'taken',
    tag: 'benchmarks',
    summary: 'Define a benchmark, or its next version',
    params: benchmarkPath,
    body: definitionInput,
    response: definedReply,
    refusals: ['forbidden'],
    async handle(request) {
      const { caller, body } = request
      const { name } = request.params
      const definition = complete(body)
      const command = { name, digest: digestOf(definition), ...definition }
      const { events, state } = await commit(deps, request, definedBenchmarkAt(name), {
        decide: known => defineBenchmark(known, command, caller),
      })
      if (!state) throw new Error('a benchmark that was just defined is missing')
      const { version } = state
      return { ref: `${name}@${version}`, name, version, changed: events.length > 0 }
    },
  })

const complete = (body: DefinitionInput): BenchmarkDefinition => ({
  metric: body.metric,
  higher_is_better: body.higher_is_better ?? true,
  task: body.task ?? null,
  split: body.split ?? null,
  dataset: body.dataset ?? null,
  harness: body.harness
    ? {
        name: body.harness.name,
        version: body.harness.version ?? null,
        commit: body.harness.commit ?? null,
      }
    : null,
  description: body.description ?? '',
})
