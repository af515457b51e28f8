import { places } from '../pages/all.ts'
import type { Group, Place } from '../pages/slice.ts'
import type { Language } from '../words/words.ts'

const titles: Readonly<Record<Group, readonly [en: string, zh: string]>> = {
  models: ['Models', '模型'],
  data: ['Data', '数据'],
}

export const groupTitleOf = (group: Group, language: Language): string =>
  titles[group][language === 'zh' ? 1 : 0]

type Shown = (typeof places)[number]

/** An entry of the header: a page, or a group with its pages, in the place of the first of them. */
export type Entry = { group: null; place: Shown } | { group: Group; places: readonly Shown[] }

export function entriesFor(role: string | undefined): Entry[] {
  const shown = places.filter(
    ({ isInHeader, isForAdmins }) => isInHeader && (!isForAdmins || role === 'admin'),
  )
  const firsts = shown.filter(
    ({ group }, nth) => !group || shown.findIndex(one => one.group === group) === nth,
  )
  return firsts.map(place =>
    place.group
      ? { group: place.group, places: shown.filter(({ group }) => group === place.group) }
      : { group: null, place },
  )
}

/** Whether the address is that of the place or of a page below it. */
export const isAt = ({ to }: Pick<Place, 'to'>, pathname: string): boolean =>
  pathname === to || (to !== '/' && pathname.startsWith(`${to}/`))
