import type { ReactNode } from 'react'

/** The parts of the administration, in their order; the code of each is loaded when it is opened. */
export const sections: readonly {
  name: string
  title: readonly [en: string, zh: string]
  load: () => Promise<{ Section: () => ReactNode }>
}[] = [
  { name: 'people', title: ['People', '人员'], load: () => import('./people.tsx') },
  { name: 'quotas', title: ['Quotas', '配额'], load: () => import('./quotas.tsx') },
  {
    name: 'approval-rules',
    title: ['Approval rules', '审批规则'],
    load: () => import('./approval-rules.tsx'),
  },
  { name: 'projects', title: ['Projects', '项目'], load: () => import('./projects.tsx') },
  { name: 'recipes', title: ['Recipes', '配方'], load: () => import('./recipes.tsx') },
  { name: 'profiles', title: ['Profiles', '资源配置'], load: () => import('./profiles.tsx') },
  {
    name: 'registries',
    title: ['Image registries', '镜像仓库'],
    load: () => import('./registries.tsx'),
  },
  { name: 'plugins', title: ['Plugins', '插件'], load: () => import('./plugins.tsx') },
  { name: 'maintenance', title: ['Maintenance', '维护'], load: () => import('./maintenance.tsx') },
  { name: 'engines', title: ['Engines', '执行引擎'], load: () => import('./engines.tsx') },
  { name: 'projections', title: ['Projections', '投影'], load: () => import('./projections.tsx') },
  { name: 'duties', title: ['Stuck work', '受阻的工作'], load: () => import('./duties.tsx') },
  { name: 'retention', title: ['Retention', '保留策略'], load: () => import('./retention.tsx') },
  { name: 'audit', title: ['Audit', '审计'], load: () => import('./audit.tsx') },
]
