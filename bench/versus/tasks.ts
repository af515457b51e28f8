import type { Page } from 'playwright-core'
import type { Hand } from './hand.ts'
import type { Name, Product } from './products.ts'

export type Setting = {
  product: Product
  page: Page
  /** Names of runs. */
  best: string
  compared: readonly string[]
  /** Differs for each repetition. */
  nth: number
}

export type Way = {
  /** The shortest way, in words. */
  how: string
  /** How far its answer is from what the task asks; absent if it is all of it. */
  lacks?: string
  /** Opens the page on which it begins, without being timed; by default that of the project. */
  open?: (setting: Setting) => Promise<void>
  act: (hand: Hand, setting: Setting) => Promise<void>
  /** Undoes it, without being timed. */
  undo?: (setting: Setting) => Promise<void>
}

export type Ways = {
  /** Once in a browser: signs in, dismisses notices. */
  prepare: (page: Page, address: string) => Promise<void>
  home: (setting: Setting) => Promise<void>
  project: (setting: Setting) => Promise<void>
  /** By the number of the task, from 1; text: why the product has no way. */
  ways: readonly (Way | string)[]
}

export const titles = [
  'open the project: the newest runs’ curves',
  'find the best of 200 runs',
  'see which hyperparameter mattered',
  'group by seed: mean ± std',
  'compare three runs: curves and what differs',
  'find a run by its tag',
  'see why a run failed',
  'rename, tag and annotate a run',
  'a live run’s newest point',
  'register a checkpoint as a model version',
] as const

export type AllWays = Readonly<Record<Name, Ways>>
