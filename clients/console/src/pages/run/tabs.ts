import type { ReactNode } from 'react'
import type { RunRecord } from './use-run.ts'

export type TabContent = (props: { run: RunRecord }) => ReactNode

/** The tabs of a run, in their order; the code of each is loaded when it is opened, and its module exports `Tab`.
 * `name` is its address. */
export const tabs: readonly {
  name: string
  title: readonly [en: string, zh: string]
  load: () => Promise<{ Tab: TabContent }>
  /** Takes the height of the window. */
  isFilling?: true
}[] = [
  { name: 'overview', title: ['Overview', '概览'], load: () => import('./overview/tab.tsx') },
  { name: 'metrics', title: ['Metrics', '指标'], load: () => import('./metrics/tab.tsx') },
  {
    name: 'logs',
    title: ['Log', '日志'],
    load: () => import('./logs/tab.tsx'),
    isFilling: true,
  },
  { name: 'hardware', title: ['Hardware', '硬件'], load: () => import('./hardware/tab.tsx') },
  { name: 'samples', title: ['Samples', '样本'], load: () => import('./samples/tab.tsx') },
  { name: 'artifacts', title: ['Artifacts', '产物'], load: () => import('./artifacts/tab.tsx') },
  { name: 'events', title: ['Events', '事件'], load: () => import('./events/tab.tsx') },
  {
    name: 'environment',
    title: ['Environment', '环境'],
    load: () => import('./environment/tab.tsx'),
  },
]
