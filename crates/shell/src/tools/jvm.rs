//! Java and its relatives: gradle, maven, sbt.

use super::Call;
use super::scripts;
use super::table::{Operands, Tool, asks, checks, reads, runs, tool};
use crate::draft::Access;
use crate::effect::Effects;
use crate::model::TargetType;

pub(super) const TOOLS: &[Tool] = &[
    checks("gradle gradlew", "run_build")
        .values("-p --project-dir -b --build-file -c --settings-file -g --gradle-user-home -x --exclude-task --tests -I --init-script --max-workers --console")
        .directory("-p --project-dir")
        .reader(gradle),
    checks("mvn mvnw mvnd", "run_build")
        .one_dash()
        .values("-f --file -pl --projects -P --activate-profiles -s --settings -gs -T --threads -l --log-file -rf --resume-from")
        .reader(maven),
    checks("sbt mill ant bazel bazelisk buck buck2 pants please", "run_build").values("-f --config -c").reader(tasks),
    checks("javac kotlinc scalac", "run_build").values("-d -cp -classpath --class-path -source -target --release").operands(Operands::Files(Access::Read)),
    runs("java", "execute_program").one_dash().values("-cp -classpath --class-path -jar -m --module").reader(java),
    checks("ktlint checkstyle spotbugs detekt", "run_lint"),
    reads("jps jstack jmap jstat jcmd javap jar jdeps", "inspect_process"),
    asks("sdk jenv", "inspect_version"),
    tool("spring quarkus", "run_command", Effects::UNKNOWN),
];

fn gradle(call: &mut Call<'_, '_, '_>) {
    let tasks: Vec<String> =
        call.arguments.operands.iter().map(|field| field.text.clone().into_owned()).collect();
    if tasks.is_empty() {
        return;
    }
    // All of them run, also those that the title does not name.
    let is_check = |task: &String| {
        let name = task.rsplit(':').next().unwrap_or(task).to_ascii_lowercase();
        const CHECKS: [&str; 14] = [
            "test",
            "check",
            "lint",
            "detekt",
            "spotless",
            "build",
            "assemble",
            "compile",
            "jar",
            "classes",
            "tasks",
            "dependencies",
            "projects",
            "help",
        ];
        CHECKS.iter().any(|check| name.contains(check))
    };
    if !tasks.iter().all(is_check) {
        call.draft.opaque.add(crate::exposure::Opacity::Task);
    }
    let mut best: Option<(u8, &'static str, Effects)> = None;
    for task in &tasks {
        let name = task.rsplit(':').next().unwrap_or(task);
        // Plugins build names of tasks (`testDebugUnitTest`, `spotlessApply`): parts are compared and not words.
        let lower = name.to_ascii_lowercase();
        let found = if lower.contains("test") || lower == "check" {
            (6, "run_test", Effects::CHECK)
        } else if lower.contains("lint")
            || lower.contains("checkstyle")
            || lower.contains("detekt")
            || lower.contains("spotless")
        {
            let applies = lower.ends_with("apply") || lower.ends_with("format");
            (5, "run_lint", if applies { Effects::CHECK.and(Effects::WRITE) } else { Effects::CHECK })
        } else if lower.contains("publish") || lower.contains("upload") || lower.contains("deploy") {
            (4, "publish", Effects::NETWORK)
        } else if lower.contains("build")
            || lower.contains("assemble")
            || lower.contains("compile")
            || lower.contains("jar")
            || lower.contains("classes")
        {
            (3, "run_build", Effects::CHECK)
        } else if lower.contains("run") {
            (2, "execute_program", Effects::UNKNOWN)
        } else if matches!(lower.as_str(), "tasks" | "dependencies" | "projects" | "properties" | "help") {
            (1, "inspect_project", Effects::READ)
        } else if lower == "clean" {
            (1, "clean", Effects::WRITE)
        } else {
            (1, "run_script", Effects::UNKNOWN)
        };
        // The title has room for one task: a test says more than the build that it needs.
        if best.is_none_or(|(rank, ..)| found.0 > rank) {
            best = Some(found);
        }
    }
    if let Some((_, operation, effects)) = best {
        call.becomes(operation, effects);
    }
    call.draft.subcommand = tasks.first().cloned();
}

fn maven(call: &mut Call<'_, '_, '_>) {
    let goals: Vec<&str> = call.arguments.operands.iter().map(|field| &*field.text).collect();
    let has = |known: &[&str]| goals.iter().any(|goal| known.contains(goal));
    // Phases run in order, and `verify` comes after `test`: where tests are skipped, only the build is left of it.
    let skips_tests = call.arguments.has("-DskipTests -Dmaven.test.skip");
    call.draft.subcommand = goals.first().map(|goal| (*goal).to_owned());
    if has(&["deploy", "release:perform"]) {
        call.becomes("publish", Effects::NETWORK.and(Effects::CHECK));
    } else if has(&["test", "verify", "integration-test", "surefire:test", "failsafe:integration-test"])
        && !skips_tests
    {
        call.becomes("run_test", Effects::CHECK);
    } else if has(&[
        "package",
        "install",
        "compile",
        "test-compile",
        "process-resources",
        "verify",
        "test",
        "site",
    ]) {
        call.becomes("run_build", Effects::CHECK);
    } else if goals.iter().any(|goal| {
        goal.starts_with("dependency:") || goal.starts_with("help:") || goal.starts_with("versions:display")
    }) {
        call.becomes("inspect_project", Effects::READ);
    } else if goals
        .iter()
        .any(|goal| goal.contains("checkstyle") || goal.contains("spotbugs") || goal.contains("pmd"))
    {
        call.becomes("run_lint", Effects::CHECK);
    } else if goals.iter().any(|goal| goal.contains("spotless:apply") || goal.contains("format")) {
        call.becomes("run_lint", Effects::CHECK.and(Effects::WRITE));
    } else if goals.iter().any(|goal| goal.contains(":run")) {
        call.becomes("execute_program", Effects::UNKNOWN);
    } else if goals == ["clean"] {
        call.becomes("clean", Effects::WRITE);
    }
    let modules = call.arguments.value("-pl --projects").map(str::to_owned);
    if let Some(modules) = modules {
        call.name(TargetType::Workspace, &modules);
    }
}

fn tasks(call: &mut Call<'_, '_, '_>) {
    let Some(first) = call.arguments.operand(0).map(str::to_owned) else { return };
    call.draft.subcommand = Some(first.clone());
    match first.as_str() {
        "run" => call.becomes("execute_program", Effects::UNKNOWN),
        "query" | "cquery" | "aquery" | "info" | "version" | "targets" | "tasks" => {
            call.becomes("inspect_project", Effects::READ)
        }
        "clean" => call.becomes("clean", Effects::WRITE),
        "fetch" | "sync" | "update" => {
            call.becomes("install_dependency", Effects::WRITE.and(Effects::NETWORK))
        }
        other => {
            let purpose = scripts::purpose(other);
            if purpose != scripts::Purpose::Other {
                scripts::apply(purpose, other, call.draft);
            }
        }
    }
}

fn java(call: &mut Call<'_, '_, '_>) {
    let jar = call.arguments.value("-jar").map(str::to_owned);
    match jar {
        Some(jar) => call.aim_text(&jar, TargetType::File, Access::Run),
        // A class is named without its file, and where that lies depends on the class path: no file is claimed.
        None => {
            if let Some(field) = call.arguments.operands.first().copied()
                && field.text.ends_with(".java")
            {
                call.aim(field, TargetType::File, Access::Run);
            }
        }
    }
}
