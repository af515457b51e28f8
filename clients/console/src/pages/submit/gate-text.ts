import type { Language } from '../../words/words.ts'

const gates: Readonly<Record<string, readonly [en: string, zh: string]>> = {
  dialect: ['form of the JobSpec', 'JobSpec 格式'],
  recipe_handshake: ['recipe', '配方'],
  entrypoint_override: ['entry point', '入口程序'],
  image_registry: ['image registry', '镜像仓库'],
  quota: ['quota', '配额'],
  team: ['team', '团队'],
  profile: ['hardware profile', '硬件配置'],
  references: ['references', '引用'],
  params: ['parameters', '参数'],
  sensitive_file: ['sensitive files', '敏感文件'],
  env: ['environment variables', '环境变量'],
}

/** A gate as people read it; a newer server may have one that is not known here. */
export const gateText = (gate: string, language: Language): string =>
  gates[gate]?.[language === 'zh' ? 1 : 0] ?? gate.replaceAll('_', ' ')
