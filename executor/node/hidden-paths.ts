import { lstatSync, readdirSync, realpathSync } from 'node:fs'
import path from 'node:path'
import type { Enclosure } from '../attempts/enclosure.ts'

/** Whether `path` is `folder` or lies in it. */
export const isIn = (path: string, folder: string): boolean =>
  `${path}/`.startsWith(folder === '/' ? folder : `${folder}/`)

/** The real path behind links; a path that does not exist is resolved as far as it exists. */
export function realOf(named: string): string {
  try {
    return realpathSync(named)
  } catch {
    const above = path.dirname(named)
    return above === named ? named : path.join(realOf(above), path.basename(named))
  }
}

/** The paths that a run reads and that are hidden from it; `hidden` are real paths, none inside another. */
export type Seen = {
  /** May contain hidden paths. */
  shown: string[]
  /** Lies in a hidden folder, but this run may read it. */
  inside: string[]
  hidden: string[]
}

/**
 * Paths are compared with their links resolved: `/lib` is often another name of `/usr/lib`. Synchronous, because
 * a program is started in the same turn in which its control group is entered.
 */
export function seenIn({ system, readable, hidden }: Enclosure): Seen {
  const closed = [...new Set(hidden.map(realOf))]
  const outermost = closed.filter(one => !closed.some(other => other !== one && isIn(one, other)))
  const isInside = (one: string) => closed.some(folder => isIn(realOf(one), folder))
  return {
    shown: [...system, ...readable.filter(one => !isInside(one))],
    inside: readable.filter(isInside),
    hidden: outermost,
  }
}

/** The names under which hidden folders and files would appear in the shown paths. */
export function coversIn({ shown, hidden }: Seen): { folders: string[]; files: string[] } {
  const covers = shown.flatMap(folder => hidden.flatMap(one => coverIn(folder, one) ?? []))
  const of = (kind: Cover['kind']) =>
    new Set(covers.filter(cover => cover.kind === kind).map(({ name }) => name))
  return { folders: [...of('folder')], files: [...of('file')] }
}

type Cover = { name: string; kind: 'folder' | 'file' }

/** Null: nothing hidden would be seen. */
function coverIn(folder: string, hidden: string): Cover | null {
  const real = realOf(folder)
  const isWhole = isIn(real, hidden)
  if (!isWhole && !isIn(hidden, real)) return null
  const kind = kindOf(isWhole ? real : hidden)
  return kind && { kind, name: isWhole ? folder : path.join(folder, path.relative(real, hidden)) }
}

/** Null: there is nothing to hide. */
function kindOf(one: string): Cover['kind'] | null {
  try {
    return lstatSync(one).isDirectory() ? 'folder' : 'file'
  } catch {
    return null
  }
}

/** These folders without the hidden paths in them, split down to the siblings of those, for rules that can only allow. */
export function withoutHidden(folders: readonly string[], hidden: readonly string[]): string[] {
  return folders.flatMap(folder => {
    if (hidden.some(one => isIn(folder, one))) return []
    if (!hidden.some(one => isIn(one, folder))) return [folder]
    return withoutHidden(entriesOf(folder), hidden)
  })
}

/** Leaves links out: they need no rule of their own, and a rule for a link opens its target. */
function entriesOf(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true })
    return entries.filter(one => !one.isSymbolicLink()).map(({ name }) => path.join(folder, name))
  } catch {
    return []
  }
}
