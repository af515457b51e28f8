import { type Language, wordsOf } from '../../words/words.ts'

export const words = wordsOf({
  title: ['Notifications', '通知'],
  unread: ['Unread only', '仅未读'],
  readAll: ['Mark all read', '全部标为已读'],
  read: ['Mark read', '标为已读'],
  none: ['Nothing has happened yet.', '还没有通知。'],
  noneUnread: ['Everything is read.', '全部已读。'],
  more: ['Older', '更早的'],
  by: ['by', '来自'],
  all: ['All notifications', '全部通知'],
  mute: [(title: string) => `Mute: ${title}`, (title: string) => `静音：${title}`],
  muteKind: [(kind: string) => `Mute “${kind}”`, (kind: string) => `静音“${kind}”`],
  muteRun: ['Mute this run', '静音此运行'],
  muteProject: [(name: string) => `Mute the project ${name}`, (name: string) => `静音项目 ${name}`],
  muted: [(n: number) => `${n} muted`, (n: number) => `已静音 ${n} 项`],
  unmute: [(what: string) => `Unmute ${what}`, (what: string) => `取消静音 ${what}`],
})

const kinds: Readonly<Record<string, readonly [en: string, zh: string]>> = {
  job_succeeded: ['succeeded', '任务成功'],
  job_failed: ['failed', '任务失败'],
  job_stopped: ['stopped', '任务停止'],
  job_paused: ['paused', '任务暂停'],
  job_retrying: ['retrying', '任务重试'],
  approval_requested: ['approval', '请求批准'],
  approval_decided: ['approval decided', '批准结果'],
  quota_changed: ['quota', '配额变更'],
  budget_threshold: ['budget', '预算'],
  role_changed: ['role', '角色变更'],
  session_ended: ['session ended', '会话结束'],
  maintenance: ['maintenance', '维护'],
  metric_alert: ['metric', '指标告警'],
  job_wasting_gpu: ['idle GPU', 'GPU 空闲'],
  diagnosis_ready: ['diagnosis', '诊断完成'],
  artifact_missing: ['artifact missing', '产物缺失'],
  dataset_ready: ['dataset ready', '数据集就绪'],
  dataset_invalid: ['dataset invalid', '数据集无效'],
  volume_cleanup: ['volume emptied', '卷清理'],
}

export const kindText = (kind: string, language: Language): string =>
  kinds[kind]?.[language === 'zh' ? 1 : 0] ?? kind.replaceAll('_', ' ')
