import type { Revision } from './paths.ts'

const order = ['pending', 'placing', 'pulling', 'loading', 'checking', 'ready'] as const

export type Step = { name: (typeof order)[number]; is: 'done' | 'now' | 'open' }

/** The way of a revision to its first response; empty if it failed or was retired. */
export function stepsOf({ state }: Pick<Revision, 'state'>): Step[] {
  const at = order.indexOf(state as 'ready')
  if (at < 0) return []
  return order.map((name, nth) => ({
    name,
    is: nth < at || state === 'ready' ? 'done' : nth === at ? 'now' : 'open',
  }))
}

export type Change = { field: string; from: unknown; to: unknown }

const flat = ({ source, serving }: Pick<Revision, 'source' | 'serving'>) =>
  new Map<string, unknown>([
    ...Object.entries(source).map(([name, value]) => [`source.${name}`, value] as const),
    ...Object.entries(serving).map(([name, value]) => [`serving.${name}`, value] as const),
  ])

/** The fields of source and serving in which a revision differs from the one it would replace. */
export function changesOf(from: Revision | undefined, to: Revision): Change[] {
  const [before, after] = [from ? flat(from) : new Map<string, unknown>(), flat(to)]
  return [...after].flatMap(([field, value]) => {
    const old = before.get(field) ?? null
    return JSON.stringify(old) === JSON.stringify(value) ? [] : [{ field, from: old, to: value }]
  })
}
