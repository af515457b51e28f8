import type { RetentionInput } from '../../../../../schemas/artifacts/retention.ts'

export type Rules = Pick<RetentionInput, 'project' | 'older_than_days'> & {
  keep?: { latest?: number; best?: number; every_nth?: number }
}

const keeps = ['latest', 'best', 'every_nth'] as const

/** The rules in a form; an empty field is omitted, and without any `keep` each job's own rules apply. */
export function rulesOf(form: FormData): Rules {
  const text = (name: string) => String(form.get(name) ?? '').trim()
  const keep = Object.fromEntries(
    keeps.flatMap(name => (text(name) === '' ? [] : [[name, Number(text(name))]])),
  )
  return {
    ...(text('project') !== '' && { project: text('project') }),
    ...(Object.keys(keep).length > 0 && { keep }),
    ...(text('older_than_days') !== '' && { older_than_days: Number(text('older_than_days')) }),
  }
}
