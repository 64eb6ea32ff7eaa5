#!/usr/bin/env bash
# A newcomer's first minutes: install into a new environment, then files in, files out.
#
#   tests/newcomer.sh FOLDER
#
# makes FOLDER anew; needs python3 and the package registry. Where SKSTRUCT_DATA names a folder
# of data, the same is done with real ones.
set -eu
here="$(cd "$(dirname "$0")/.." && pwd)"
rm -rf "$1" && mkdir -p "$1" && cd "$1"
"${PYTHON:-python3}" -m venv env
# Only modules that are used are compiled, once: most of what is installed never is.
unset PYTHONDONTWRITEBYTECODE
env/bin/python -m pip install --quiet --disable-pip-version-check --no-compile \
  -c "$here/constraints.txt" "$here[report,serve]"

fit_predict_evaluate_report() { # training data, new data, first rows, options of fit
  train="$1" new="$2" first="$3"
  shift 3
  env/bin/skstruct fit "$train" --first "$first" -o m.model "$@"
  env/bin/skstruct predict m.model "$new" --first "$first" -o predicted.csv --risk
  test "$(wc -l < predicted.csv)" -gt 1
  env/bin/skstruct evaluate m.model "$new" --first "$first" --quiet
  env/bin/skstruct report m.model "$new" --first "$first" -o report.html
  grep -q "</html>" report.html
}

env/bin/skstruct data sample animals.arff
env/bin/skstruct data sample animals_new.arff
fit_predict_evaluate_report animals.arff animals_new.arff 1000
# The same model behind HTTP, and on a live page: rows of the data as records.
env/bin/skstruct data convert animals_new.arff new.csv --quiet
env/bin/python - <<'END'
import csv, json
rows = list(csv.DictReader(open("new.csv", encoding="utf-8")))[:3]
outputs = ("id", "row", "class", "labels")
json.dump([{k: v for k, v in row.items() if k not in outputs} for row in rows], open("rows.json", "w"))
END
env/bin/python "$here/tests/newcomer_http.py" serve m.model rows.json
env/bin/python "$here/tests/newcomer_http.py" explore m.model animals_new.arff
env/bin/skstruct papers list > papers.txt
grep -q ecrm_hierarchies papers.txt

data="${SKSTRUCT_DATA:-}"
if [ -d "$data/enron_hmc" ]; then
  enron="$data/enron_hmc/Enron_corr" yeast="$data/yeast/yeast"
  fit_predict_evaluate_report "${enron}_trainvalid.arff.xz" "${enron}_test.arff.xz" 10000
  fit_predict_evaluate_report "$yeast-train.arff.xz" "$yeast-test.arff.xz" 10000
  iris="$data/label_ranking/iris.csv" letters="$data/ocr_letters/letter.data.xz"
  fit_predict_evaluate_report "$iris" "$iris" 10000
  fit_predict_evaluate_report "$letters" "$letters" 626 # the first published part
fi
echo "A newcomer's path works."
