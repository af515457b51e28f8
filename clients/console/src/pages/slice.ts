import type { QueryKey } from '@tanstack/react-query'
import type { ReactNode } from 'react'

/** A slice with pages, as `<slice>/slice.ts` declares it and `slices.ts` lists it (docs/contribute/slices.md). */
export type Slice = {
  /** Its folder. */
  name: string
  /** By address: the module that exports `Page`, loaded when the address is opened or somebody points at a link to it. */
  pages: Readonly<Record<string, LoadPage>>
  /** How people reach it; absent if only links of other pages lead there. */
  place?: Place
}

export type LoadPage = () => Promise<{ Page: () => ReactNode; ahead?: Ahead }>

/** What a page reads first, read while somebody points at a link to it. The same options as on the page. */
export type Ahead = (at: {
  params: Readonly<Record<string, string>>
  search: Readonly<Record<string, string | undefined>>
}) => readonly {
  queryKey: QueryKey
  queryFn: (given: { signal: AbortSignal }) => Promise<unknown>
}[]

/** An entry of the palette; places are in the order of `nth`. */
export type Place = {
  to: string
  nth: number
  title: Title
  /** In the palette and the list of keys, where there is more room; default `title`. */
  longTitle?: Title
  isInHeader?: true
  /** Its menu in the header; default: it stands there itself. */
  group?: Group
  /** Its entry in the header is a menu of these links. */
  parts?: () => Promise<{ Parts: () => ReactNode }>
  isForAdmins?: true
  /** Opens it after `g`. */
  key?: string
}

export type Group = 'models' | 'data'

type Title = readonly [en: string, zh: string]
