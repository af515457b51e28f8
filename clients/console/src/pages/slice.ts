import type { ReactNode } from 'react'

/** A slice with pages, as `<slice>/slice.ts` declares it and `slices.ts` lists it (docs/contribute/slices.md). */
export type Slice = {
  /** Its folder. */
  name: string
  /** By address: the module that exports `Page`, loaded when the address is opened. */
  pages: Readonly<Record<string, LoadPage>>
  /** How people reach it; absent if only links of other pages lead there. */
  place?: Place
}

export type LoadPage = () => Promise<{ Page: () => ReactNode }>

/** An entry of the palette; places are in the order of `nth`. */
export type Place = {
  to: string
  nth: number
  title: Title
  /** In the palette and the list of keys, where there is more room; default `title`. */
  longTitle?: Title
  isInHeader?: true
  isForAdmins?: true
  /** Opens it after `g`. */
  key?: string
}

type Title = readonly [en: string, zh: string]
