import type { Language } from './words.ts'

/** The states, phases and reasons that the API names, as people read them. */
const words: Readonly<Record<string, readonly [en: string, zh: string]>> = {
  // Runs and jobs
  pending: ['pending', '待启动'],
  admitted: ['admitted', '已受理'],
  held: ['held', '已挂起'],
  queued: ['queued', '排队中'],
  scheduled: ['scheduled', '已调度'],
  starting: ['starting', '启动中'],
  running: ['running', '运行中'],
  pausing: ['pausing', '暂停中'],
  paused: ['paused', '已暂停'],
  stopping: ['stopping', '停止中'],
  succeeded: ['succeeded', '成功'],
  failed: ['failed', '失败'],
  stopped: ['stopped', '已停止'],
  abandoned: ['abandoned', '已失联'],
  // Phases of a start
  provisioning: ['provisioning', '准备机器'],
  pulling_image: ['pulling the image', '拉取镜像'],
  building_env: ['building the environment', '构建环境'],
  pulling_weights: ['pulling the weights', '拉取权重'],
  launching: ['launching', '启动进程'],
  // Why a job waits
  waiting_capacity: ['waiting for GPUs', '等待 GPU'],
  quota_in_use: ['quota in use', '配额已用尽'],
  over_budget: ['over budget', '超出预算'],
  volume_in_use: ['a volume is in use', '卷正被使用'],
  behind_priority: ['behind a higher priority', '让位于更高优先级'],
  waiting_gang: ['waiting for all of its nodes', '等待全部节点'],
  held_approval: ['waiting for approval', '等待批准'],
  not_before: ['not due yet', '未到启动时间'],
  retry_backoff: ['waiting before a retry', '等待重试'],
  queue_paused: ['the queue is paused', '队列已暂停'],
  draining: ['draining', '正在排空'],
  // Deployments, revisions and engines
  creating: ['creating', '创建中'],
  ready: ['ready', '就绪'],
  degraded: ['degraded', '部分可用'],
  suspending: ['suspending', '挂起中'],
  suspended: ['suspended', '已挂起'],
  resuming: ['resuming', '恢复中'],
  deleting: ['deleting', '删除中'],
  deleted: ['deleted', '已删除'],
  placing: ['placing', '分配机器'],
  pulling: ['pulling', '拉取中'],
  loading: ['loading', '加载中'],
  checking: ['checking', '检查中'],
  retired: ['retired', '已退役'],
  failing: ['failing', '异常'],
  ended: ['ended', '已结束'],
  // Artifacts and versions of models
  registered: ['registered', '已登记'],
  verified: ['verified', '已校验'],
  missing: ['missing', '缺失'],
  archived: ['archived', '已归档'],
  active: ['active', '使用中'],
  attached: ['attached', '已挂载'],
  revoked: ['revoked', '已吊销'],
  // Versions of datasets
  validating: ['validating', '校验中'],
  invalid: ['invalid', '无效'],
  deprecated: ['deprecated', '已弃用'],
  // Alerts, checks and duties
  open: ['open', '未处理'],
  acknowledged: ['acknowledged', '已确认'],
  resolved: ['resolved', '已解决'],
  info: ['info', '提示'],
  warn: ['warning', '警告'],
  warning: ['warning', '警告'],
  error: ['error', '错误'],
  critical: ['critical', '严重'],
  ok: ['passed', '通过'],
  done: ['done', '完成'],
  parked: ['parked', '已搁置'],
  leased: ['in progress', '处理中'],
  waiting: ['waiting', '等待中'],
}

/** A state as people read it; one that is not known here with spaces. */
export const stateText = (state: string, language: Language): string =>
  words[state]?.[language === 'zh' ? 1 : 0] ?? state.replaceAll('_', ' ')
