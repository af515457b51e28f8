import type { Language } from '../words/words.ts'
import type { LoadPage, Place } from './slice.ts'
import * as listed from './slices.ts'

type Listed = (typeof listed)[keyof typeof listed]

/** The address of a page; `$` begins a parameter. */
export type Path = Listed extends infer S ? (S extends Listed ? keyof S['pages'] : never) : never
export type To = Extract<Listed, { place: unknown }>['place']['to']
type KnownPlace = Place & { to: To }

export const slices: readonly Listed[] = Object.values(listed)

/** The pages of all slices. */
export const pages = Object.assign({}, ...slices.map(slice => slice.pages)) as Record<
  Path,
  LoadPage
>

/** The places of all slices, in their order. */
export const places: readonly KnownPlace[] = slices
  .flatMap((slice): KnownPlace[] => ('place' in slice ? [slice.place] : []))
  .sort((a, b) => a.nth - b.nth)

/** The keys that open a place after `g`. */
export const goKeys: ReadonlyMap<string, To> = new Map(
  places.flatMap(({ key, to }) => (key === undefined ? [] : [[key, to] as const])),
)

export const titleOf = ({ title }: Place, language: Language): string =>
  title[language === 'zh' ? 1 : 0]

export const longTitleOf = ({ title, longTitle = title }: Place, language: Language): string =>
  longTitle[language === 'zh' ? 1 : 0]
