import type { Call } from '../load/plan.ts'

/** The requests of one person, and the status that shows each was carried out. */
export type Case = { name: string; calls: readonly Call[]; expected: number }

/** The lock of the built-in recipe. */
export const lockPath = '/api/recipes/digits/1.0.0/lock'

/** Belongs to the profile `local`, which no executor serves. */
export const gpusPerNode = 4

const projects = 8

export function casesOf(token: string, lock: unknown): Case[] {
  const call = (path: string, project: string, spec: object = {}): Call => ({
    method: 'POST',
    path,
    token,
    body: { api: 'forge/v2', metadata: { name: 'admission', project }, lock, spec },
  })
  const tooMuch = { resources: { gpus_per_node: gpusPerNode + 1 } }
  return [
    { name: 'submit, 1 project', calls: [call('/api/jobs', 'one')], expected: 200 },
    {
      name: `submit, ${projects} projects`,
      calls: Array.from({ length: projects }, (_, index) => call('/api/jobs', `of-${index + 1}`)),
      expected: 200,
    },
    { name: 'preflight', calls: [call('/api/jobs/preflight', 'one')], expected: 200 },
    { name: 'refused: profile', calls: [call('/api/jobs', 'one', tooMuch)], expected: 400 },
  ]
}
