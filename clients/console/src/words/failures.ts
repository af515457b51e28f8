import type { blames } from '../../../../schemas/diagnoses.ts'
import type { failureCategories } from '../../../../schemas/failure-categories.ts'
import type { Language } from './words.ts'

type Category = (typeof failureCategories)[number]
type Blame = (typeof blames)[number]
type Text = readonly [en: string, zh: string]

const categories: Readonly<Record<Category, Text>> = {
  gpu_oom: ['GPU out of memory', 'GPU 显存不足'],
  host_oom: ['host out of memory', '主机内存不足'],
  nccl_timeout: ['NCCL timeout', 'NCCL 超时'],
  node_failure: ['node failure', '节点故障'],
  gpu_error: ['GPU error', 'GPU 错误'],
  loss_nonfinite: ['loss not finite', '损失非有限值'],
  loss_divergence: ['loss diverged', '损失发散'],
  stalled: ['stalled', '停滞'],
  data_error: ['data', '数据错误'],
  checkpoint_error: ['checkpoint', '检查点错误'],
  disk_full: ['disk full', '磁盘已满'],
  image_pull: ['image pull', '镜像拉取失败'],
  env_build: ['environment build', '环境构建失败'],
  hub_access: ['hub access', '模型库访问失败'],
  storage_access: ['storage access', '存储访问失败'],
  code_exception: ['exception in the code', '代码异常'],
  config_error: ['configuration', '配置错误'],
  preempted: ['preempted', '被抢占'],
  timeout: ['time limit', '超出时限'],
  killed: ['killed', '被终止'],
  unknown: ['unknown', '未知'],
}

const causes: Readonly<Record<Blame, Text>> = {
  user: ['user', '用户'],
  platform: ['platform', '平台'],
  hardware: ['hardware', '硬件'],
  external: ['external', '外部'],
  unknown: ['unknown', '未知'],
}

const textFrom = (known: Readonly<Record<string, Text>>) => (name: string, language: Language) =>
  known[name]?.[language === 'zh' ? 1 : 0] ?? name.replaceAll('_', ' ')

/** The category of a diagnosis as people read it; a newer server may name one that is not known here. */
export const categoryText = textFrom(categories)

/** Who or what caused a failure. */
export const blameText = textFrom(causes)
