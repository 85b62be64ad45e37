{{- define "platform.name" -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "platform.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}

{{- define "platform.buildId" -}}
{{ .Values.versioning.buildId | default .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}

{{- define "platform.labels" -}}
app.kubernetes.io/name: assistant-platform
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Values.image.tag | default .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end -}}

{{/* What selects the pods of one component: (list $ "api") */}}
{{- define "platform.selector" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: assistant-platform
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}

{{- define "platform.podLabels" -}}
{{- $root := index . 0 -}}
{{ include "platform.labels" $root }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}

{{/* Environment of every process. */}}
{{- define "platform.env" -}}
{{- range $name, $value := .Values.settings }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- range .Values.secret.keys }}
- name: {{ . }}_FILE
  value: /run/secrets/assistant-platform/{{ . }}
{{- end }}
{{- end -}}

{{/* Environment of processes with workers. */}}
{{- define "platform.versioningEnv" -}}
{{- if .Values.versioning.enabled }}
- name: TEMPORAL_DEPLOYMENT_NAME
  value: {{ .Values.versioning.deploymentName | quote }}
- name: TEMPORAL_WORKER_BUILD_ID
  value: {{ include "platform.buildId" . | quote }}
{{- end }}
{{- end -}}

{{/* Common members of every pod, without its containers. */}}
{{- define "platform.pod" -}}
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
automountServiceAccountToken: false
terminationGracePeriodSeconds: {{ add 60 (int .Values.settings.SHUTDOWN_GRACE_SECONDS) }}
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile: { type: RuntimeDefault }
{{- with .Values.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity: {{ toYaml . | nindent 2 }}
{{- end }}
volumes:
  - name: secrets
    secret:
      secretName: {{ .Values.secret.name }}
      defaultMode: 0440
  - name: tmp
    emptyDir: { sizeLimit: 1Gi }
  - name: data
    {{- if .Values.persistence.existingClaim }}
    persistentVolumeClaim: { claimName: {{ .Values.persistence.existingClaim }} }
    {{- else }}
    emptyDir: {}
    {{- end }}
{{- end -}}

{{/* Common members of every container. */}}
{{- define "platform.container" -}}
image: {{ include "platform.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
volumeMounts:
  - { name: secrets, mountPath: /run/secrets/assistant-platform, readOnly: true }
  - { name: tmp, mountPath: /tmp }
  - { name: data, mountPath: /data }
{{- end -}}
