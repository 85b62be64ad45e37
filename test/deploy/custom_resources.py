"""Validates the custom resources in a rendered chart as strictly as the API server does with fieldValidation=Strict.

usage: custom_resources.py RENDERED SCALERS CRD...

SCALERS is KEDA's description of its scalers, a CRD a CustomResourceDefinition. Prints a line for each resource; every
resource whose group is not Kubernetes' own must have a CRD.
"""

import json
import sys

import yaml
from jsonschema import Draft4Validator

texts = {"type": "object", "additionalProperties": {"type": "string"}}
# The schemas of CRDs leave it to the server.
metadata = {
    "type": "object",
    "required": ["name"],
    "additionalProperties": False,
    "properties": {"name": {"type": "string"}, "namespace": {"type": "string"}, "labels": texts, "annotations": texts},
}


def strict(schema):
    """The schema, which also refuses unknown members."""
    schema = dict(schema)
    if "properties" in schema:
        schema["properties"] = {name: strict(member) for name, member in schema["properties"].items()}
        if not schema.get("x-kubernetes-preserve-unknown-fields"):
            schema.setdefault("additionalProperties", False)
    for keyword in ("items", "additionalProperties"):
        if isinstance(schema.get(keyword), dict):
            schema[keyword] = strict(schema[keyword])
    return schema


def schemas_of(files):
    for file in files:
        with open(file) as stream:
            spec = yaml.safe_load(stream)["spec"]
        for version in spec["versions"]:
            schema = strict(version["schema"]["openAPIV3Schema"])
            schema["properties"]["metadata"] = metadata
            yield (f"{spec['group']}/{version['name']}", spec["names"]["kind"]), schema


def wrong_in_trigger(trigger, scalers):
    """What KEDA itself would refuse or ignore: a CRD describes the metadata of a trigger as any texts."""
    parameters = scalers.get(trigger["type"])
    if parameters is None:
        yield f"KEDA has no scaler {trigger['type']}"
        return
    for name in trigger["metadata"]:
        if name not in parameters:
            yield f"{name} is not a parameter of {trigger['type']}"
        elif "deprecated" in parameters[name]:
            yield f"{name} is deprecated: {parameters[name]['deprecated']}"
    for name, parameter in parameters.items():
        is_needed = not parameter.get("optional") and "default" not in parameter
        if is_needed and name not in trigger["metadata"]:
            yield f"{trigger['type']} needs {name}"


rendered, scalers_file, *crds = sys.argv[1:]
schemas = dict(schemas_of(crds))
with open(scalers_file) as stream:
    scalers = {
        scaler["type"]: {parameter["name"]: parameter for parameter in scaler["parameters"]}
        for scaler in json.load(stream)["scalers"]
    }
with open(rendered) as stream:
    resources = [resource for resource in yaml.safe_load_all(stream) if resource]
failed = False
for resource in resources:
    key = (resource["apiVersion"], resource["kind"])
    if key not in schemas:
        wrong = ["no CRD describes it"]
    else:
        wrong = [f"{error.json_path}: {error.message}" for error in Draft4Validator(schemas[key]).iter_errors(resource)]
        if not wrong:
            for trigger in resource["spec"].get("triggers", []):
                wrong.extend(wrong_in_trigger(trigger, scalers))
    print(f"{resource['kind']} {resource['metadata']['name']}: {'; '.join(wrong) or 'valid'}")
    failed = failed or bool(wrong)
sys.exit(failed)
