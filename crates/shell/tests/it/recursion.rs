//! Deletions that reach a whole tree.

use agent_tracer_shell::{CommandAnalysis, Context, Effect, Step, analyze};

fn reaches_a_tree(analysis: &CommandAnalysis) -> bool {
    fn inside(step: &Step) -> bool {
        (step.recursive && step.effects.contains(&Effect::Destructive))
            || step.pipeline.iter().flatten().any(inside)
            || step.substitutions.iter().any(inside)
    }
    analysis.steps.iter().any(inside)
}

#[test]
fn a_deletion_says_whether_it_reaches_a_whole_tree() {
    for (command, expected) in [
        ("rm -rf build", true),
        ("rm -R build", true),
        ("rm --recursive build", true),
        ("rm build/one.o", false),
        ("sudo bash -c 'cd x && rm -fr y'", true),
        ("echo $(rm -r x)", true),
        ("find . -name '*.o' -delete", true),
        ("find . -exec rm {} +", true),
        ("find . -exec cat {} +", false),
        ("fd -e o -x rm", true),
        ("ls | xargs rm", true),
        ("ls | xargs cat", false),
        ("git clean -fdx", true),
        ("git clean -n -d", false),
        ("rsync -a --delete empty/ full/", true),
        ("rsync -a empty/ full/", false),
        ("python3 -c 'import shutil; shutil.rmtree(\"x\")'", true),
        ("node -e 'fs.rmSync(\"x\", {recursive: true})'", true),
        ("cp -r a b", false),
        ("ls -R", false),
    ] {
        let analysis = analyze(command, &Context::default());
        assert_eq!(reaches_a_tree(&analysis), expected, "{command}");
    }
}
