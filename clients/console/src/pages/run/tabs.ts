import type { ReactNode } from 'react'
import type { RunRecord } from './use-run.ts'

export type TabContent = (props: { run: RunRecord }) => ReactNode

/** The tabs of a run, in their order; the code of each is loaded when it is opened, and its module exports `Tab`.
 * `name` is its address. */
export const tabs: readonly {
  name: string
  title: readonly [en: string, zh: string]
  load: () => Promise<{ Tab: TabContent }>
}[] = [{ name: 'overview', title: ['Overview', '概览'], load: () => import('./overview/tab.tsx') }]
